// A module in CommonJS.
import common from './lib/common.js';
import { twice } from './lib/common.js';

export default function () {
  console.log(common.value, twice(4));
}
