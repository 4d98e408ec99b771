(function (exports, require, native) {
  'use strict';
  // URLs by the WHATWG standard: parser, setters, and search parameters (url.spec.whatwg.org).
  const { URLSearchParams, watched } = require('~url/params');
  const { parseHost } = require('~url/host');
  const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const isSpecial = (scheme) => Object.hasOwn(PORTS, scheme);

  const USER = /[^\x21\x24-\x2e\x30-\x39\x41-\x5a\x5f\x61-\x7a\x7e&()*%+,!'$_-]/gu;
  const PATH = /[^\x21\x24-\x3b\x3d\x40-\x5d\x5f\x61-\x7a\x7c\x7e%&]/gu;
  const QUERY = /[^\x21\x24-\x3b\x3d\x3f-\x7e%&]/gu;
  const SPECIAL_QUERY = /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]/gu;
  const FRAGMENT = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu;
  const encoded = (text, unsafe) =>
    text.replace(unsafe, (sign) => {
      const bytes = unescape(encodeURIComponent(sign.isWellFormed() ? sign : '\ufffd'));
      return [...bytes].map((byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`).join('');
    });

  const isDot = (part) => /^(?:\.|%2e)$/i.test(part);
  const isDots = (part) => /^(?:\.|%2e){2}$/i.test(part);

  function path(text, base, isFile) {
    const parts = [...base];
    const segments = text.split('/');
    segments.forEach((segment, at) => {
      const isLast = at === segments.length - 1;
      if (isDots(segment)) {
        if (!(isFile && parts.length === 1 && /^[a-z]:$/i.test(parts[0]))) parts.pop();
        if (isLast) parts.push('');
      } else if (isDot(segment)) {
        if (isLast) parts.push('');
      } else parts.push(encoded(segment, PATH));
    });
    return parts;
  }

  function authority(record, text) {
    const at = text.lastIndexOf('@');
    let host = text;
    if (at >= 0) {
      host = text.slice(at + 1);
      const colon = text.slice(0, at).indexOf(':');
      const [user, password] = colon < 0 ? [text.slice(0, at), ''] : [text.slice(0, colon), text.slice(colon + 1, at)];
      record.username = encoded(user, USER);
      record.password = encoded(password, USER);
      if (host === '') return false;
    }
    return hostAndPort(record, host);
  }

  function hostAndPort(record, text) {
    const found = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text);
    if (found === null) return false;
    const [, host, port] = found;
    if (host === '' && isSpecial(record.protocol) && record.protocol !== 'file:') return false;
    const parsed = parseHost(host, isSpecial(record.protocol));
    if (parsed === undefined) return false;
    record.host = parsed;
    return port === undefined || setPort(record, port);
  }

  function setPort(record, text) {
    if (text === '') {
      record.port = '';
      return true;
    }
    if (!/^\d+$/.test(text) || Number(text) > 65535) return false;
    const port = String(Number(text));
    record.port = port === PORTS[record.protocol] ? '' : port;
    return true;
  }

  // Returns the parts of a URL; undefined if it is invalid.
  function parse(input, base) {
    let rest = input.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const record = {
      protocol: '',
      username: '',
      password: '',
      host: null,
      port: '',
      path: [],
      query: null,
      hash: null,
    };
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      record.hash = encoded(rest.slice(hash + 1), FRAGMENT);
      rest = rest.slice(0, hash);
    }
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(rest)?.[0].toLowerCase();
    if (scheme === undefined && base === undefined) return undefined;
    record.protocol = scheme ?? base.protocol;
    const special = isSpecial(record.protocol);
    const query = (text) => encoded(text, special ? SPECIAL_QUERY : QUERY);
    if (scheme !== undefined) rest = rest.slice(scheme.length);
    const question = rest.indexOf('?');
    if (question >= 0) {
      record.query = query(rest.slice(question + 1));
      rest = rest.slice(0, question);
    }
    if (special) rest = rest.replace(/\\/g, '/');
    const isRelative = scheme === undefined || (special && base?.protocol === scheme && !rest.startsWith('//'));
    if (isRelative && base !== undefined) return relative(record, rest, base, question >= 0, scheme, special);
    if (special && record.protocol !== 'file:') rest = `//${rest.replace(/^\/*/, '')}`;
    if (rest.startsWith('//')) {
      const end = rest.indexOf('/', 2);
      const host = end < 0 ? rest.slice(2) : rest.slice(2, end);
      if (!authority(record, host)) return undefined;
      rest = end < 0 ? '' : rest.slice(end);
      record.path = rest === '' ? (special ? [''] : []) : path(rest.slice(1), [], record.protocol === 'file:');
      return record;
    }
    if (special) record.host = '';
    if (rest.startsWith('/') || special) record.path = path(rest.replace(/^\//, ''), [], record.protocol === 'file:');
    else record.path = rest.replace(/[^\x20-\x7e]/gu, (sign) => encoded(sign, PATH));
    return record;
  }

  function relative(record, rest, base, hasQuery, scheme, special) {
    if (typeof base.path === 'string') {
      // A base such as `mailto:` only takes a fragment.
      return rest === '' && !hasQuery && record.hash !== null ? { ...base, hash: record.hash } : undefined;
    }
    if (rest.startsWith('//')) {
      if (special && record.protocol !== 'file:') rest = `//${rest.replace(/^\/*/, '')}`;
      const end = rest.indexOf('/', 2);
      if (!authority(record, end < 0 ? rest.slice(2) : rest.slice(2, end))) return undefined;
      record.path = end < 0 ? (special ? [''] : []) : path(rest.slice(end + 1), [], record.protocol === 'file:');
      return record;
    }
    Object.assign(record, { username: base.username, password: base.password, host: base.host, port: base.port });
    if (rest === '') {
      record.path = [...base.path];
      if (!hasQuery) record.query = base.query;
    } else if (rest.startsWith('/')) record.path = path(rest.slice(1), [], record.protocol === 'file:');
    else record.path = path(rest, base.path.slice(0, -1), record.protocol === 'file:');
    return record;
  }

  const pathOf = (record) =>
    typeof record.path === 'string' ? record.path : record.path.map((one) => `/${one}`).join('');
  const hostOf = (record) => (record.host ?? '') + (record.port === '' ? '' : `:${record.port}`);

  function serialized(record) {
    let text = record.protocol;
    if (record.host !== null) {
      const credentials = record.username + (record.password === '' ? '' : `:${record.password}`);
      text += `//${credentials === '' ? '' : `${credentials}@`}${hostOf(record)}`;
    } else if (Array.isArray(record.path) && record.path.length > 1 && record.path[0] === '') text += '/.';
    text += pathOf(record);
    if (record.query !== null) text += `?${record.query}`;
    return record.hash === null ? text : `${text}#${record.hash}`;
  }

  const clean = (value) => String(value).replace(/[\t\n\r]/g, '');
  const records = new WeakMap();
  const of = (url) => {
    const found = records.get(url);
    if (found === undefined) throw new TypeError('this property belongs to a URL');
    return found;
  };
  const isHostless = (record) => record.host === null || record.host === '' || record.protocol === 'file:';

  class URL {
    constructor(input, base) {
      const parsedBase = base === undefined ? undefined : parse(String(base));
      const record = base !== undefined && parsedBase === undefined ? undefined : parse(String(input), parsedBase);
      if (record === undefined) throw new TypeError(`invalid URL \`${input}\``);
      records.set(this, record);
      const params = new URLSearchParams(`?${record.query ?? ''}`);
      watched(params, (text) => {
        record.query = text === '' ? null : text;
      });
      Object.defineProperty(this, 'searchParams', { value: params });
    }
    static canParse(input, base) {
      const parsedBase = base === undefined ? undefined : parse(String(base));
      return (base === undefined || parsedBase !== undefined) && parse(String(input), parsedBase) !== undefined;
    }
    static parse(input, base) {
      return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    get href() {
      return serialized(of(this));
    }
    set href(value) {
      const record = parse(String(value));
      if (record === undefined) throw new TypeError(`invalid URL \`${value}\``);
      Object.assign(of(this), record);
      this.searchParams.__reset(record.query ?? '');
    }
    get origin() {
      const record = of(this);
      return isSpecial(record.protocol) && record.protocol !== 'file:'
        ? `${record.protocol}//${hostOf(record)}`
        : 'null';
    }
    get protocol() {
      return of(this).protocol;
    }
    set protocol(value) {
      const record = of(this);
      const scheme = /^[a-z][a-z0-9+.-]*(?=:|$)/i.exec(String(value))?.[0].toLowerCase();
      if (scheme === undefined || isSpecial(`${scheme}:`) !== isSpecial(record.protocol)) return;
      record.protocol = `${scheme}:`;
      if (record.port === PORTS[record.protocol]) record.port = '';
    }
    get username() {
      return of(this).username;
    }
    set username(value) {
      if (!isHostless(of(this))) of(this).username = encoded(String(value), USER);
    }
    get password() {
      return of(this).password;
    }
    set password(value) {
      if (!isHostless(of(this))) of(this).password = encoded(String(value), USER);
    }
    get host() {
      return hostOf(of(this));
    }
    set host(value) {
      const record = { ...of(this) };
      const found = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/.exec(
        clean(value).split(isSpecial(record.protocol) ? /[/?#\\]/ : /[/?#]/)[0],
      );
      if (typeof record.path === 'string' || !hostAndPort(record, found[1])) return;
      if (found[2]) setPort(record, found[2]);
      Object.assign(of(this), record);
    }
    get hostname() {
      return of(this).host ?? '';
    }
    set hostname(value) {
      const record = { ...of(this) };
      const text = clean(value).split(isSpecial(record.protocol) ? /[/?#\\]/ : /[/?#]/)[0];
      if (typeof record.path === 'string' || /^[^[]*:/.test(text) || !hostAndPort(record, text)) return;
      Object.assign(of(this), record);
    }
    get port() {
      return of(this).port;
    }
    set port(value) {
      const digits = /^\d*/.exec(clean(value))[0];
      if (!isHostless(of(this)) && (digits !== '' || value === '')) setPort(of(this), digits);
    }
    get pathname() {
      return pathOf(of(this));
    }
    set pathname(value) {
      const record = of(this);
      if (typeof record.path === 'string') return;
      const text = isSpecial(record.protocol) ? clean(value).replace(/\\/g, '/') : clean(value);
      record.path = path(text.replace(/^\//, ''), [], record.protocol === 'file:').map((part) =>
        part.replace(/[?#]/g, (sign) => (sign === '?' ? '%3F' : '%23')),
      );
    }
    get search() {
      return of(this).query ? `?${of(this).query}` : '';
    }
    set search(value) {
      const record = of(this);
      const text = clean(value).replace(/^\?/, '');
      const unsafe = isSpecial(record.protocol) ? SPECIAL_QUERY : QUERY;
      record.query = value === '' ? null : encoded(text, unsafe).replace(/#/g, '%23');
      this.searchParams.__reset(text);
    }
    get hash() {
      return of(this).hash ? `#${of(this).hash}` : '';
    }
    set hash(value) {
      of(this).hash = value === '' ? null : encoded(clean(value).replace(/^#/, ''), FRAGMENT);
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  }

  exports.URL = URL;
  exports.URLSearchParams = URLSearchParams;
  exports.default = { URL, URLSearchParams };
})
