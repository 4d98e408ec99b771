(function (exports, require, native) {
  'use strict';
  const tree = require('~html/node');
  const { compile } = require('~html/css');
  const { valueOf } = require('~html/selection');
  const nodes = new WeakMap();
  const at = (element) => nodes.get(element).node;

  // Attributes that a method of the same name returns: as text, and whether they are present.
  const TEXTS = [
    'name',
    'type',
    'title',
    'alt',
    'rel',
    'target',
    'media',
    'charset',
    'hreflang',
    'placeholder',
    'pattern',
    'accept',
    'autocomplete',
    'enctype',
    'method',
    'label',
    'content',
    'dir',
    'lang',
    'coords',
    'shape',
    'height',
    'width',
    'min',
    'max',
    'step',
    'rows',
    'cols',
    'size',
    'wrap',
    'sandbox',
    'srcdoc',
    'scope',
    'headers',
    'abbr',
    'download',
    'crossorigin',
    'integrity',
    'kind',
    'srclang',
    'sizes',
    'srcset',
    'usemap',
    'role',
  ];
  const FLAGS = [
    'checked',
    'disabled',
    'required',
    'multiple',
    'autofocus',
    'readonly',
    'selected',
    'hidden',
    'async',
    'defer',
    'controls',
    'loop',
    'muted',
    'autoplay',
    'reversed',
    'open',
    'ismap',
  ];
  const URLS = ['href', 'src', 'action', 'formaction', 'cite', 'poster', 'data', 'ping'];
  const PARTS = [
    'protocol',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
    'origin',
    'username',
    'password',
  ];

  class Element {
    constructor(node, url) {
      nodes.set(this, { node, url });
    }
    nodeName() {
      return at(this).name;
    }
    nodeType() {
      return at(this).type;
    }
    nodeValue() {
      return at(this).text ?? null;
    }
    innerHTML() {
      return tree.inner(at(this));
    }
    outerHTML() {
      return tree.outer(at(this));
    }
    textContent() {
      return tree.text(at(this));
    }
    text() {
      return tree.text(at(this));
    }
    id() {
      return this.getAttribute('id') ?? '';
    }
    className() {
      return this.getAttribute('class') ?? '';
    }
    classList() {
      return this.className()
        .split(/\s+/)
        .filter((name) => name !== '');
    }
    value() {
      return valueOf(at(this)) ?? '';
    }
    getAttribute(name) {
      return at(this).attributes?.get(String(name).toLowerCase());
    }
    getAttributeNode(name) {
      const value = this.getAttribute(name);
      return value === undefined ? undefined : attribute(this, String(name).toLowerCase(), value);
    }
    hasAttribute(name) {
      return at(this).attributes?.has(String(name).toLowerCase()) ?? false;
    }
    hasAttributes() {
      return (at(this).attributes?.size ?? 0) > 0;
    }
    attributes() {
      const all = [...(at(this).attributes ?? [])];
      return Object.fromEntries(all.map(([name, value]) => [name, attribute(this, name, value)]));
    }
    hasChildNodes() {
      return at(this).children.length > 0;
    }
    childNodes() {
      return at(this).children.map((node) => wrap(node, this));
    }
    children() {
      return tree.elements(at(this)).map((node) => wrap(node, this));
    }
    childElementCount() {
      return tree.elements(at(this)).length;
    }
    firstChild() {
      return wrap(at(this).children[0], this);
    }
    lastChild() {
      return wrap(at(this).children.at(-1), this);
    }
    firstElementChild() {
      return wrap(tree.elements(at(this))[0], this);
    }
    lastElementChild() {
      return wrap(tree.elements(at(this)).at(-1), this);
    }
    nextSibling() {
      return wrap(at(this).parent?.children[at(this).at + 1], this);
    }
    previousSibling() {
      return wrap(at(this).parent?.children[at(this).at - 1], this);
    }
    nextElementSibling() {
      return wrap(tree.after(at(this))[0], this);
    }
    previousElementSibling() {
      return wrap(tree.before(at(this))[0], this);
    }
    parentElement() {
      return wrap(tree.parents(at(this))[0], this);
    }
    parentNode() {
      return wrap(at(this).parent ?? undefined, this);
    }
    ownerDocument() {
      let root = at(this);
      while (root.parent !== null) root = root.parent;
      return wrap(root, this);
    }
    form() {
      return wrap(
        tree.parents(at(this)).find((node) => node.name === 'form'),
        this,
      );
    }
    contains(other) {
      const inner = exports.nodeOf(other);
      return inner !== undefined && (inner === at(this) || tree.contains(at(this), inner));
    }
    matches(selector) {
      return compile(String(selector))(at(this));
    }
    closest(selector) {
      return wrap([at(this), ...tree.parents(at(this))].find(compile(String(selector))), this);
    }
    querySelector(selector) {
      return this.querySelectorAll(selector)[0];
    }
    querySelectorAll(selector) {
      return tree
        .walk(at(this))
        .filter(compile(String(selector)))
        .map((node) => wrap(node, this));
    }
    isSameNode(other) {
      return exports.nodeOf(other) === at(this);
    }
    isEqualNode(other) {
      const node = exports.nodeOf(other);
      return node !== undefined && tree.outer(node) === tree.outer(at(this));
    }
    toString() {
      return `<${this.nodeName()}>`;
    }
  }

  const attribute = (element, name, value) => ({
    name,
    value,
    ownerElement: () => element,
    nodeName: () => name,
  });

  const add = (name, method) => {
    if (!Object.hasOwn(Element.prototype, name)) Object.defineProperty(Element.prototype, name, { value: method });
  };
  for (const name of TEXTS)
    add(name, function () {
      return this.getAttribute(name) ?? '';
    });
  for (const name of FLAGS)
    add(name, function () {
      return this.hasAttribute(name);
    });
  for (const name of URLS) {
    add(name, function () {
      const value = this.getAttribute(name);
      if (value === undefined) return '';
      const parsed = resolved(this, value);
      return parsed === undefined ? value : parsed.href;
    });
  }
  for (const name of PARTS)
    add(name, function () {
      // A document that was not loaded from anywhere has relative addresses only.
      return resolved(this, this.getAttribute('href') ?? '', 'http://./')?.[name] ?? '';
    });

  function resolved(element, reference, instead) {
    const { URL } = require('~url');
    const base = nodes.get(element).url ?? instead;
    return URL.canParse(reference, base) ? new URL(reference, base) : undefined;
  }

  // `of` is the URL of the document, or an element of it.
  function wrap(node, of) {
    if (node === undefined) return undefined;
    return new Element(node, of instanceof Element ? nodes.get(of).url : of);
  }

  exports.wrap = wrap;
  exports.nodeOf = (element) => nodes.get(element)?.node;
})
