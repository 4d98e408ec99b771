(function (exports, require, native) {
  'use strict';
  const tree = require('~html/node');
  const { compile } = require('~html/css');

  // Keeps each node once.
  const unique = (nodes) => [...new Set(nodes)];
  const CONTROLS = new Set(['input', 'select', 'textarea']);
  const BUTTONS = new Set(['submit', 'button', 'reset', 'image', 'file']);

  function optionValue(option) {
    return option.attributes.get('value') ?? tree.text(option);
  }

  function selected(select) {
    const options = tree.walk(select).filter((node) => node.name === 'option');
    const chosen = options.filter((option) => option.attributes.has('selected'));
    if (select.attributes.has('multiple')) return chosen.map(optionValue);
    const one = chosen.at(-1) ?? options[0];
    return one === undefined ? undefined : optionValue(one);
  }

  function valueOf(node) {
    switch (node.name) {
      case 'select':
        return selected(node);
      case 'option':
        return optionValue(node);
      case 'textarea':
        return tree.text(node);
      case 'button':
        return node.attributes.get('value') ?? tree.text(node);
      default:
        return node.attributes.get('value');
    }
  }

  function camel(name) {
    return name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  }

  // A data attribute as its type: JSON where it is JSON.
  function datum(text) {
    if (text === undefined) return undefined;
    try {
      const value = JSON.parse(text);
      // As jQuery: a number only if its text stays the same.
      return typeof value === 'number' && String(value) !== text ? text : value;
    } catch {
      return text;
    }
  }

  class Selection {
    #nodes;
    #url;
    constructor(nodes, url) {
      this.#nodes = nodes;
      this.#url = url;
    }
    #of(nodes) {
      return new Selection(unique(nodes), this.#url);
    }
    #element(node) {
      return require('~html/element').wrap(node, this.#url);
    }
    // Returns a condition: of a selector, a function, a selection, or an element.
    #condition(matcher) {
      if (typeof matcher === 'function') return (node, at) => Boolean(matcher(at, this.#element(node)));
      if (matcher instanceof Selection) {
        const nodes = new Set(matcher.#nodes);
        return (node) => nodes.has(node);
      }
      const node = require('~html/element').nodeOf(matcher);
      if (node !== undefined) return (other) => other === node;
      const matches = compile(String(matcher));
      return (node) => matches(node);
    }
    #filtered(nodes, selector) {
      return this.#of(selector === undefined ? nodes : nodes.filter(compile(String(selector))));
    }
    #until(list, stop, filter) {
      const ends = stop === undefined ? () => false : this.#condition(stop);
      const all = this.#nodes.flatMap((node) => {
        const nodes = list(node);
        const end = nodes.findIndex((one) => ends(one));
        return end < 0 ? nodes : nodes.slice(0, end);
      });
      return this.#filtered(all, filter);
    }

    find(selector) {
      const matches = this.#condition(selector);
      return this.#of(this.#nodes.flatMap((node) => tree.walk(node).filter((one) => matches(one))));
    }
    // The place of the first element: among its siblings, or among what a selector matches. With a selection or an
    // element, the place of that one here.
    index(of) {
      if (of === undefined) {
        const node = this.#nodes[0];
        return node === undefined ? -1 : tree.siblings(node).indexOf(node);
      }
      if (typeof of !== 'string') return this.#nodes.findIndex(this.#condition(of));
      const node = this.#nodes[0];
      return node === undefined ? -1 : tree.walk(tree.root(node)).filter(compile(of)).indexOf(node);
    }
    // Adds elements: those of a selector in the whole document, of a selection, or one.
    add(of) {
      const node = require('~html/element').nodeOf(of);
      if (node !== undefined) return this.#of([...this.#nodes, node]);
      if (of instanceof Selection) return this.#of([...this.#nodes, ...of.#nodes]);
      const root = this.#nodes[0];
      const found = root === undefined ? [] : tree.walk(tree.root(root)).filter(compile(String(of)));
      return this.#of([...this.#nodes, ...found]);
    }
    each(callback) {
      if (typeof callback !== 'function') throw new TypeError('each() requires a function');
      this.#nodes.forEach((node, at) => callback(at, this.#element(node)));
      return this;
    }
    map(callback) {
      if (typeof callback !== 'function') throw new TypeError('map() requires a function');
      return this.#nodes.map((node, at) => callback(at, this.#of([node])));
    }
    filter(matcher) {
      return this.#of(this.#nodes.filter(this.#condition(matcher)));
    }
    not(matcher) {
      const matches = this.#condition(matcher);
      return this.#of(this.#nodes.filter((node, at) => !matches(node, at)));
    }
    is(matcher) {
      return this.#nodes.some(this.#condition(matcher));
    }
    has(matcher) {
      const matches = this.#condition(matcher);
      return this.#of(this.#nodes.filter((node) => tree.walk(node).some((one) => matches(one))));
    }
    text() {
      return this.#nodes.map(tree.text).join('');
    }
    html() {
      return this.#nodes.length === 0 ? '' : tree.inner(this.#nodes[0]);
    }
    attr(name, otherwise) {
      return this.#nodes[0]?.attributes?.get(String(name).toLowerCase()) ?? otherwise;
    }
    val() {
      return this.#nodes.length === 0 ? undefined : valueOf(this.#nodes[0]);
    }
    data(key) {
      const attributes = this.#nodes[0]?.attributes;
      if (attributes === undefined) return undefined;
      if (key !== undefined) {
        const name = String(key).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        return datum(attributes.get(`data-${name}`));
      }
      const own = [...attributes].filter(([name]) => name.startsWith('data-'));
      return Object.fromEntries(own.map(([name, value]) => [camel(name.slice(5)), datum(value)]));
    }
    first() {
      return this.#of(this.#nodes.slice(0, 1));
    }
    last() {
      return this.#of(this.#nodes.slice(-1));
    }
    eq(at) {
      const node = this.#nodes.at(at);
      return this.#of(node === undefined ? [] : [node]);
    }
    slice(begin, end) {
      return this.#of(this.#nodes.slice(begin, end));
    }
    size() {
      return this.#nodes.length;
    }
    get(at) {
      if (at === undefined) return this.#nodes.map((node) => this.#element(node));
      const node = this.#nodes.at(at);
      return node === undefined ? undefined : this.#element(node);
    }
    toArray() {
      return this.#nodes.map((node) => this.#of([node]));
    }
    contents() {
      return this.#of(this.#nodes.flatMap((node) => node.children));
    }
    children(selector) {
      return this.#filtered(this.#nodes.flatMap(tree.elements), selector);
    }
    parent(selector) {
      return this.#filtered(
        this.#nodes.flatMap((node) => tree.parents(node).slice(0, 1)),
        selector,
      );
    }
    parents(selector) {
      return this.#filtered(this.#nodes.flatMap(tree.parents), selector);
    }
    parentsUntil(stop, filter) {
      return this.#until(tree.parents, stop, filter);
    }
    closest(selector) {
      const matches = this.#condition(selector);
      return this.#of(
        this.#nodes.flatMap((node) => {
          const found = [node, ...tree.parents(node)].find((one) => matches(one));
          return found === undefined ? [] : [found];
        }),
      );
    }
    siblings(selector) {
      return this.#filtered(
        this.#nodes.flatMap((node) => tree.siblings(node).filter((one) => one !== node)),
        selector,
      );
    }
    next(selector) {
      return this.#filtered(
        this.#nodes.flatMap((node) => tree.after(node).slice(0, 1)),
        selector,
      );
    }
    nextAll(selector) {
      return this.#filtered(this.#nodes.flatMap(tree.after), selector);
    }
    nextUntil(stop, filter) {
      return this.#until(tree.after, stop, filter);
    }
    prev(selector) {
      return this.#filtered(
        this.#nodes.flatMap((node) => tree.before(node).slice(0, 1)),
        selector,
      );
    }
    prevAll(selector) {
      return this.#filtered(this.#nodes.flatMap(tree.before), selector);
    }
    prevUntil(stop, filter) {
      return this.#until(tree.before, stop, filter);
    }
    // The controls that a form sends (HTML section 4.10.21.4, without the button).
    serializeArray() {
      const controls = this.#nodes.flatMap((node) =>
        node.name === 'form' ? tree.walk(node).filter((one) => CONTROLS.has(one.name)) : [node],
      );
      return controls.flatMap((node) => {
        if (!CONTROLS.has(node.name)) return [];
        const name = node.attributes.get('name') ?? '';
        const type = (node.attributes.get('type') ?? '').toLowerCase();
        if (name === '' || node.attributes.has('disabled') || (node.name === 'input' && BUTTONS.has(type))) return [];
        const isBox = node.name === 'input' && (type === 'checkbox' || type === 'radio');
        if (isBox && !node.attributes.has('checked')) return [];
        const value = valueOf(node) ?? (isBox ? 'on' : node.name === 'select' ? undefined : '');
        return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) => ({ name, value: one }));
      });
    }
    serializeObject() {
      return Object.fromEntries(this.serializeArray().map(({ name, value }) => [name, value]));
    }
    serialize() {
      const encoded = (text) => encodeURIComponent(text).replace(/%20/g, '+');
      return this.serializeArray()
        .map(({ name, value }) => `${encoded(name)}=${encoded(value)}`)
        .join('&');
    }
    toString() {
      return this.#nodes.map(tree.outer).join('');
    }
  }

  exports.Selection = Selection;
  exports.select = (nodes, url) => new Selection(nodes, url);
  exports.parse = (text, url) => new Selection([tree.parse(text)], url);
  exports.valueOf = valueOf;
})
