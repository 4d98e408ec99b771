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
      return at(this).text;
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
      return wrap(tree.root(at(this)), this);
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
      const reference = this.getAttribute('href') ?? '';
      const parsed = resolved(this, reference);
      // k6 has no colon here.
      if (name === 'protocol') return parsed === undefined ? ':' : parsed.protocol.slice(0, -1);
      if (parsed !== undefined) return parsed[name];
      if (!['pathname', 'search', 'hash'].includes(name)) return '';
      return resolved(this, reference, 'http://./')?.[name] ?? '';
    });

  // Methods of elements of some names.
  const texts = (element, name) => element.getAttribute(name) ?? '';
  const numbers = (element, name, otherwise) => Number.parseInt(texts(element, name), 10) || otherwise;
  const names = (...all) => {
    const known = new Set(all);
    return (node) => known.has(node.name);
  };
  const within = (element, matches) => tree.walk(at(element)).filter(matches);
  const wrapped = (nodes, element) => nodes.map((node) => wrap(node, element));
  const outer = (element, ...all) => tree.parents(at(element)).find(names(...all));
  const options = (element) => within(element, names('option'));
  const isSelected = (node) => node.attributes.has('selected');
  const controls = names('input', 'button', 'select', 'textarea', 'fieldset');
  const labelable = names('input', 'button', 'select', 'textarea', 'meter', 'output', 'progress');
  const cells = (node) => tree.elements(node).filter(names('td', 'th'));
  const sections = (table, name) => tree.elements(table).filter(names(name));
  // The rows of a table: those of its head, of itself and its bodies, and of its foot.
  function rows(node) {
    const own = (one) => tree.elements(one).filter(names('tr'));
    if (node?.name !== 'table') return node === undefined ? [] : own(node);
    const isBody = names('tr', 'tbody');
    const bodies = tree.elements(node).filter(isBody).flatMap((one) => (one.name === 'tr' ? [one] : own(one)));
    return [...sections(node, 'thead').flatMap(own), ...bodies, ...sections(node, 'tfoot').flatMap(own)];
  }
  const OF_NAMES = {
    type() {
      const type = texts(this, 'type');
      switch (this.nodeName()) {
        case 'input':
          return type || 'text';
        case 'button':
          return type || 'submit';
        case 'select':
          return this.hasAttribute('multiple') ? 'select-multiple' : 'select';
        case 'textarea':
        case 'fieldset':
          return this.nodeName();
        default:
          return type;
      }
    },
    label() {
      return this.getAttribute('label') ?? (this.nodeName() === 'option' ? this.textContent() : '');
    },
    method() {
      return texts(this, 'method') || (this.nodeName() === 'form' ? 'get' : '');
    },
    enctype() {
      return texts(this, 'enctype') || (this.nodeName() === 'form' ? 'application/x-www-form-urlencoded' : '');
    },
    noValidate() {
      return this.hasAttribute('novalidate');
    },
    rows() {
      return this.nodeName() === 'textarea' ? numbers(this, 'rows', 0) : wrapped(rows(at(this)), this);
    },
    cols() {
      return this.nodeName() === 'textarea' ? numbers(this, 'cols', 0) : texts(this, 'cols');
    },
    size() {
      if (this.nodeName() !== 'select') return texts(this, 'size');
      return numbers(this, 'size', this.hasAttribute('multiple') ? 4 : 1);
    },
    elements() {
      return wrapped(within(this, controls), this);
    },
    length() {
      return this.nodeName() === 'select' ? options(this).length : within(this, controls).length;
    },
    options() {
      return wrapped(options(this), this);
    },
    selectedOptions() {
      return wrapped(options(this).filter(isSelected), this);
    },
    selectedIndex() {
      return options(this).findIndex(isSelected);
    },
    index() {
      const select = outer(this, 'select', 'datalist');
      return select === undefined ? 0 : tree.walk(select).filter(names('option')).indexOf(at(this));
    },
    defaultSelected() {
      return this.hasAttribute('selected');
    },
    defaultChecked() {
      return this.hasAttribute('checked');
    },
    defaultValue() {
      return texts(this, 'value');
    },
    htmlFor() {
      return texts(this, 'for');
    },
    control() {
      const id = this.getAttribute('for');
      if (id === undefined) return wrap(within(this, labelable)[0], this);
      const all = tree.walk(tree.root(at(this)));
      return wrap(all.find((node) => labelable(node) && node.attributes.get('id') === id), this);
    },
    labels() {
      const id = this.getAttribute('id');
      const isFor = (node) => node.attributes.get('for') === id || tree.contains(node, at(this));
      return wrapped(tree.walk(tree.root(at(this))).filter((node) => node.name === 'label' && isFor(node)), this);
    },
    relList() {
      return texts(this, 'rel').split(/\s+/).filter((name) => name !== '');
    },
    cells() {
      return wrapped(cells(at(this)), this);
    },
    cellIndex() {
      const row = outer(this, 'tr');
      return row === undefined ? -1 : cells(row).indexOf(at(this));
    },
    colSpan() {
      return numbers(this, 'colspan', 1);
    },
    rowSpan() {
      return numbers(this, 'rowspan', 1);
    },
    rowIndex() {
      return rows(outer(this, 'table')).indexOf(at(this));
    },
    sectionRowIndex() {
      return rows(outer(this, 'thead', 'tbody', 'tfoot', 'table')).indexOf(at(this));
    },
    tHead() {
      return wrap(sections(at(this), 'thead')[0], this);
    },
    tFoot() {
      return wrap(sections(at(this), 'tfoot')[0], this);
    },
    tBodies() {
      return wrapped(sections(at(this), 'tbody'), this);
    },
    caption() {
      return wrap(sections(at(this), 'caption')[0], this);
    },
  };
  for (const [name, method] of Object.entries(OF_NAMES)) add(name, method);

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
