(function (exports, require, native) {
  'use strict';
  const http = require('k6/http').default;

  class Request {
    constructor(method, url, body = null, params = {}) {
      Object.assign(this, { method, url, body, params });
    }
  }
  exports.Request = Request;
  exports.Get = class Get extends Request {
    constructor(url, params) {
      super('GET', url, null, params);
    }
  };
  for (const method of ['Post', 'Put', 'Patch', 'Delete', 'Options']) {
    exports[method] = class extends Request {
      constructor(url, body, params) {
        super(method.toUpperCase(), url, body, params);
      }
    };
  }

  class Httpx {
    constructor(options = {}) {
      const { baseURL, headers, tags, ...params } = options;
      this.baseURL = baseURL ?? '';
      this.headers = { ...headers };
      this.tags = { ...tags };
      this.params = params;
    }
    setBaseUrl(url) {
      this.baseURL = url;
    }
    addHeader(name, value) {
      this.headers[name] = value;
    }
    addHeaders(all) {
      Object.assign(this.headers, all);
    }
    clearHeader(name) {
      delete this.headers[name];
    }
    addTag(name, value) {
      this.tags[name] = value;
    }
    addTags(all) {
      Object.assign(this.tags, all);
    }
    clearTag(name) {
      delete this.tags[name];
    }
    __params(own = {}) {
      return {
        ...this.params,
        ...own,
        headers: { ...this.headers, ...own?.headers },
        tags: { ...this.tags, ...own?.tags },
      };
    }
    __url(url) {
      return typeof url !== 'string' || /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : this.baseURL + url;
    }
    request(method, url, body, params) {
      return http.request(method, this.__url(url), body, this.__params(params));
    }
    asyncRequest(method, url, body, params) {
      return http.asyncRequest(method, this.__url(url), body, this.__params(params));
    }
    batch(requests, params = {}) {
      const one = (entry) => {
        const of = typeof entry === 'string' ? { method: 'GET', url: entry } : entry;
        const [method, url, body, own] = Array.isArray(of) ? of : [of.method, of.url, of.body, of.params];
        const all = {
          ...params,
          ...own,
          headers: { ...params.headers, ...own?.headers },
          tags: { ...params.tags, ...own?.tags },
        };
        return [method, this.__url(url), body, this.__params(all)];
      };
      if (Array.isArray(requests)) return http.batch(requests.map(one));
      return http.batch(Object.fromEntries(Object.entries(requests).map(([key, entry]) => [key, one(entry)])));
    }
  }
  for (const method of ['get', 'post', 'put', 'patch', 'delete', 'options', 'head']) {
    Httpx.prototype[method] = function (url, body, params) {
      return this.request(method.toUpperCase(), url, body, params);
    };
    const name = `async${method[0].toUpperCase()}${method.slice(1)}`;
    Httpx.prototype[name] = function (url, body, params) {
      return this.asyncRequest(method.toUpperCase(), url, body, params);
    };
  }
  Httpx.prototype.del = Httpx.prototype.delete;
  exports.Httpx = Httpx;
  exports.default = new Httpx();
})
