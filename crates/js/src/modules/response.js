(function (exports, require, native) {
  'use strict';
  const CACHE = Symbol('json');

  // Paths are evaluated on a tree of their own, so that a script can change what json() has returned.
  function cacheOf(response) {
    if (response[CACHE] === undefined) Object.defineProperty(response, CACHE, { value: {} });
    return response[CACHE];
  }

  exports.json = (response, selector) => {
    const cache = cacheOf(response);
    if (selector === undefined || selector === null) {
      if (!('whole' in cache)) cache.whole = native.responseJson.call(response);
      return cache.whole;
    }
    if (!('tree' in cache)) {
      try {
        cache.tree = JSON.parse(native.responseText.call(response));
      } catch {
        cache.tree = undefined;
      }
    }
    if (cache.tree === undefined) return undefined;
    const found = require('~path').get(cache.tree, String(selector));
    return typeof found === 'object' && found !== null ? JSON.parse(JSON.stringify(found)) : found;
  };

  function documentOf(response) {
    const text = native.responseText.call(response);
    if (text === undefined) throw new Error('the body of this response was not kept, so that it has no HTML');
    return require('~html/selection').parse(text, response.url);
  }

  exports.html = (response, selector) => {
    const all = documentOf(response);
    return selector === undefined ? all : all.find(selector);
  };

  exports.clickLink = (response, options = {}) => {
    const selector = options.selector ?? 'a[href]';
    const link = documentOf(response).find(selector).first();
    const href = link.attr('href');
    if (link.size() === 0) throw new Error(`clickLink: no element matches \`${selector}\``);
    if (href === undefined) throw new Error(`clickLink: the element of \`${selector}\` has no \`href\``);
    const url = new (require('~url').URL)(href, response.url).href;
    return native.httpGet(url, options.params);
  };

  exports.submitForm = (response, options = {}) => {
    const selector = options.formSelector ?? 'form';
    const form = documentOf(response).find(selector).first();
    if (form.size() === 0) throw new Error(`submitForm: no form matches \`${selector}\``);
    const { URL } = require('~url');
    const method = (form.attr('method') ?? 'get').toUpperCase();
    const url = new URL(form.attr('action') ?? response.url, response.url);
    const values = form.serializeObject();
    const submit = form.find(options.submitSelector ?? '[type="submit"]').first();
    const name = submit.attr('name');
    if (name !== undefined && name !== '') values[name] = submit.attr('value') ?? '';
    Object.assign(values, options.fields);
    if (method === 'GET') {
      url.search = '';
      for (const [key, value] of Object.entries(values)) {
        for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(key, String(one));
      }
      return native.httpGet(url.href, options.params);
    }
    return native.httpRequest(method, url.href, values, options.params);
  };

  const FIELDS = [
    'url',
    'status',
    'status_text',
    'proto',
    'headers',
    'cookies',
    'body',
    'timings',
    'error',
    'error_code',
    'request',
  ];

  exports.toJSON = (response) => Object.fromEntries(FIELDS.map((name) => [name, response[name]]));
})
