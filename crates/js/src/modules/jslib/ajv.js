(function (exports, require, native) {
  'use strict';
  // JSON Schema with the interface of Ajv; a native function validates.
  class Ajv {
    #schemas = new Map();
    constructor(options = {}) {
      this.options = options;
      this.errors = null;
    }
    compile(schema) {
      const text = JSON.stringify(schema);
      native.schemaMistakes(text, 'null');
      const validate = (value) => {
        const all = JSON.parse(native.schemaMistakes(text, JSON.stringify(value) ?? 'null'));
        const errors = all.map(([path, message, keyword]) => ({
          keyword,
          dataPath: path.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replace(/\//g, '.'),
          instancePath: path,
          schemaPath: '',
          params: {},
          message,
        }));
        validate.errors = errors.length === 0 ? null : this.options.allErrors ? errors : errors.slice(0, 1);
        return errors.length === 0;
      };
      validate.schema = schema;
      validate.errors = null;
      return validate;
    }
    addSchema(schema, key = schema.$id ?? schema.id) {
      this.#schemas.set(key, this.compile(schema));
      return this;
    }
    getSchema(key) {
      return this.#schemas.get(key);
    }
    validate(schema, value) {
      const validate = typeof schema === 'string' ? this.#schemas.get(schema) : this.compile(schema);
      if (validate === undefined) throw new Error(`no schema with key or ref "${schema}"`);
      const passed = validate(value);
      this.errors = validate.errors;
      return passed;
    }
    validateSchema(schema) {
      try {
        this.compile(schema);
        return true;
      } catch {
        return false;
      }
    }
    errorsText(errors = this.errors, { separator = ', ', dataVar = 'data' } = {}) {
      if (!errors || errors.length === 0) return 'No errors';
      return errors.map((error) => `${dataVar}${error.dataPath} ${error.message}`).join(separator);
    }
  }
  for (const name of ['addFormat', 'addKeyword', 'compileAsync', 'addMetaSchema']) {
    Ajv.prototype[name] = () => {
      throw new Error(`ajv: \`${name}\` is not supported`);
    };
  }
  exports.default = Ajv;
  exports.Ajv = Ajv;
})
