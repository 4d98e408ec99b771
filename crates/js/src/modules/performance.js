(function (exports, require, native) {
  'use strict';
  exports.performance = {
    now: () => native.runTime(),
    get timeOrigin() {
      return native.now() - native.runTime();
    },
    toJSON() {
      return { timeOrigin: this.timeOrigin };
    },
  };
})
