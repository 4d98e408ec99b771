//! `k6/html`, and the methods of responses that use it.

use super::lines::{lines, lines_with};
use super::run::{Answer, json};

const PAGE: &str = r#"<!doctype html><title>Shop</title><body><h1 id=top class="a b">Hi &amp; <i>you</i></h1><!-- c -->
<ul><li data-id="7" data-big-one='{"x":1}'>one<li class=x>two<li>three</ul>
<a class=next href="/page?n=2#f">Next</a>
<form id=login action="/login" method=post><input name=user value=me><input type=hidden name=csrf value="t&quot;1">
<input type=checkbox name=keep checked><input type=checkbox name=no>
<select name=size><option value=s>S<option selected>M</select>
<textarea name=note>a
b</textarea><button type=submit name=go value=1>Go</button></form>
<form id=search><input name=q value=x></form></body>"#;

fn page(body: &str) -> Vec<String> {
    let page = serde_json::to_string(PAGE).expect("JSON");
    lines(&["k6/html"], &format!("const d = m0.parseHTML({page}, 'http://h.example/dir/'); {body}"))
}

#[test]
fn finds_elements_and_reads_them() {
    let found = page(
        "const h = d.find('h1'); console.log(h.text(), h.html(), h.attr('id'), h.attr('none'), h.attr('none', 'd')); \
         const li = d.find('ul > li'); console.log(li.size(), li.eq(1).text(), li.last().text(), li.eq(-2).text()); \
         console.log(li.map((at, one) => at + one.text()).join()); \
         const seen = []; li.each((at, one) => seen.push(one.nodeName() + one.textContent())); \
            console.log(seen.join()); \
         console.log(li.first().data('id'), li.first().data('bigOne').x, JSON.stringify(li.data()));",
    );
    assert_eq!(
        found,
        [
            "Hi & you Hi &amp; <i>you</i> top undefined d",
            "3 two three two",
            "0one,1two,2three",
            "lione,litwo,lithree",
            r#"7 1 {"id":7,"bigOne":{"x":1}}"#,
        ]
    );
}

#[test]
fn moves_through_the_tree() {
    let found = page(
        "const li = d.find('li'); const t = (s) => s.map((_, one) => one.text()).join(); \
         console.log(t(li.filter('.x')), t(li.not('.x')), t(li.filter((at) => at > 1)), li.is('.x'), \
            li.has('b').size()); \
         console.log(t(li.eq(1).prev()), t(li.first().nextAll()), t(li.eq(1).siblings()), t(li.slice(1))); \
         console.log(li.parent().size(), li.closest('body').size(), li.eq(0).parents().size(), \
           d.find('body').children('form').size(), d.find('h1').contents().size()); \
         console.log(t(li.first().nextUntil('li:last-child')), li.get(0).nodeType(), li.toArray().length);",
    );
    assert_eq!(
        found,
        ["two one,three three true 0", "one two,three one,three two,three", "1 1 3 2 2", "two 1 3"]
    );
}

#[test]
fn selects_as_style_sheets_do() {
    let found = page(
        "for (const s of ['li:nth-child(2)', 'li:not(.x):last-of-type', 'h1.a.b#top', '[data-id=\"7\"]', \
            '[class~=b]', \
           'h1 + ul > li:first-child', 'h1 ~ form', 'li:contains(\"tw\")', 'form:has(textarea)', \
            'input[name^=us], a', \
           'li:nth-child(2n+1)', '*:empty']) console.log(d.find(s).size()); \
         try { d.find('a:hover') } catch (e) { console.log(e.message) } \
         try { d.find('a >') } catch (e) { console.log(e.message) }",
    );
    assert_eq!(found[..12], ["1", "1", "1", "1", "1", "1", "2", "1", "1", "2", "2", "5"]);
    assert_eq!(found[12], "invalid selector `a:hover`: the pseudo-class `:hover` is not supported");
    assert_eq!(found[13], "invalid selector `a >`: unexpected `end`");
}

#[test]
fn reads_forms() {
    let found = page(
        "const f = d.find('#login'); console.log(f.serialize()); console.log(JSON.stringify(f.serializeObject())); \
         console.log(f.serializeArray().length, d.find('select').val(), d.find('textarea').val().length);",
    );
    assert_eq!(found[0], "user=me&csrf=t%221&keep=on&size=M&note=a%0Ab");
    assert_eq!(found[1], r#"{"user":"me","csrf":"t\"1","keep":"on","size":"M","note":"a\nb"}"#);
    assert_eq!(found[2], "5 M 3");
}

#[test]
fn reads_elements() {
    let found = page(
        "const a = d.find('a').get(0); console.log(a.href(), a.hash(), a.className(), a.getAttribute('href'), \
            a.id() === ''); \
         const ul = d.find('ul').get(0); console.log(ul.childElementCount(), ul.firstElementChild().textContent(), \
           ul.children().length, ul.parentElement().nodeName(), ul.nextElementSibling().nodeName()); \
         const i = d.find('[name=keep]').get(0); console.log(i.checked(), i.disabled(), i.type(), i.form().id(), \
            i.matches('input')); \
         console.log(Object.keys(d.find('h1').get(0).attributes()).join(), d.find('h1').get(0).innerHTML());",
    );
    assert_eq!(
        found,
        [
            "http://h.example/page?n=2#f #f next /page?n=2#f true",
            "3 one 3 body a",
            "true false checkbox login true",
            "id,class Hi &amp; <i>you</i>",
        ]
    );
}

/// Runs a method of the response of a page; returns the requests after the first one.
fn sent(body: &str) -> Vec<String> {
    let mut requests = Vec::new();
    let found = lines_with(
        &["k6/http"],
        &format!("const r = m0.default.get('http://127.0.0.1:8080/a/b'); {body}"),
        |request| {
            requests.push(request.to_owned());
            match requests.len() {
                1 => Answer { status: 200, head: "Content-Type: text/html\r\n".into(), body: PAGE.into() },
                _ => json(200, "{}"),
            }
        },
    );
    requests.remove(0);
    requests.extend(found);
    requests
}

#[test]
fn submits_forms_and_clicks_links() {
    let sent_all = sent("r.submitForm({ fields: { user: 'you', extra: 1 } })");
    assert!(sent_all[0].starts_with("POST /login HTTP/1.1\r\n"), "{sent_all:?}");
    assert!(
        sent_all[0].ends_with("csrf=t%221&extra=1&go=1&keep=on&note=a%0Ab&size=M&user=you"),
        "{sent_all:?}"
    );
    let sent_all = sent("r.submitForm({ formSelector: '#search', params: { headers: { A: 'b' } } })");
    assert!(sent_all[0].starts_with("GET /a/b?q=x HTTP/1.1\r\n"), "{sent_all:?}");
    assert!(sent_all[0].contains("A: b\r\n"), "{sent_all:?}");
    let sent_all = sent(
        "r.clickLink({ selector: 'a.next' }); console.log(r.html('title').text(), r.html().find('li').size())",
    );
    assert!(sent_all[0].starts_with("GET /page?n=2 HTTP/1.1\r\n"), "{sent_all:?}");
    assert_eq!(sent_all[1], "Shop 3");
    let sent_all = sent("try { r.clickLink({ selector: 'b' }) } catch (e) { console.log(e.message) }");
    assert_eq!(sent_all, ["clickLink: no element matches `b`"]);
}

#[test]
fn reads_documents_that_nest_deeply() {
    let body = "const d = m0.parseHTML('<b>'.repeat(450) + 'x<br>y'); \
                console.log(d.find('b').size(), d.text(), d.find('b b b:has(br)').size(), d.find('b').last().html()); \
                console.log(d.find('b').first().html().length, d.find('b').last().parents().size()); \
                try { m0.parseHTML('<b>'.repeat(600)) } catch (e) { console.log(e.message) }";
    assert_eq!(
        lines(&["k6/html"], body),
        [
            "450 xy 448 x<br/>y",
            "3150 451",
            "the HTML cannot be read: the body nests elements deeper than 512 levels",
        ]
    );
}

const TABLE: &str = r#"<body><p>a</p><p class=s>b</p><p>c</p><a href="/x?y=1#z">l</a><a href="https://h.test:81/q">m</a>
<table><thead><tr><th>h</th></tr></thead><tbody><tr><td>1</td><td colspan=2>2</td></tr><tr><td>3</td></tr></tbody>
<tfoot><tr><td>f</td></tr></tfoot></table>
<form id=f><fieldset><input id=i1><button>b</button><select name=s><option>o1</option>
<option value=2 selected label=lab>x</option></select></fieldset></form><label for=i1>L</label>
<select id=n><option>1</select><textarea>t</textarea></body>"#;

fn table(body: &str) -> String {
    let page = serde_json::to_string(TABLE).expect("JSON");
    let script = format!(
        "const d = m0.parseHTML({page}), g = (s, at = 0) => d.find(s).get(at); \
         const shown = (one) => (Array.isArray(one) ? one.map((e) => e.nodeName()).join('+') : one); \
         console.log([{body}].map(shown).join(' '));"
    );
    lines(&["k6/html"], &script).join("\n")
}

#[test]
fn selections_have_places_and_can_grow() {
    let found = table(
        "d.find('p').index(), d.find('.s').index(), d.find('.s').index('.s'), d.find('p').index(d.find('.s')), \
         d.find('p').index(g('.s')), d.find('zz').index(), d.find('p').index(d.find('a'))",
    );
    assert_eq!(found, "0 1 0 1 1 -1 -1");
    let found = table(
        "d.find('a').add('p').text(), d.find('a').add(d.find('p')).size(), d.find('a').add(g('p')).text(), \
         d.find('p').first().add('p').text(), d.find('p').first().add('zz').size()",
    );
    assert_eq!(found, "lmabc 5 lma abc 1");
    let found = table(
        "`<${d.find('zz').html()}>`, d.find('zz').data() === undefined, g('p').nodeValue() === undefined",
    );
    assert_eq!(found, "<> true true");
}

#[test]
fn elements_of_tables_and_forms_have_their_methods() {
    let found = table(
        "g('table').rows().length, g('tbody').rows().length, g('table').tBodies().length, \
         g('table').tHead().nodeName(), \
         g('tr', 2).rowIndex(), g('tr', 2).sectionRowIndex(), g('tr', 1).cells(), g('td', 1).cellIndex(), \
         g('td', 1).colSpan(), g('td').rowSpan()",
    );
    assert_eq!(found, "4 2 1 thead 2 1 td+td 1 2 1");
    let found = table(
        "g('form').elements(), g('form').length(), g('select').selectedIndex(), g('#n').selectedIndex(), \
         g('select').options().length, g('select').selectedOptions()[0].value(), g('option').label(), \
         g('option', 1).label(), g('option', 1).index(), g('select').type(), g('select').size()",
    );
    assert_eq!(found, "fieldset+input+button+select 4 1 -1 2 2 o1 lab 1 select 1");
    let found = table(
        "g('label').control().id(), g('label').htmlFor(), g('input').labels().length, g('input').type(), \
         g('button').type(), g('button').value(), g('textarea').type(), g('form').method(), g('form').enctype()",
    );
    assert_eq!(found, "i1 i1 1 text submit b textarea get application/x-www-form-urlencoded");
}

#[test]
fn parts_of_an_address_are_those_of_k6() {
    let found = table(
        "['protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'href'] \
            .map((name) => g('a')[name]()).join('|'), \
         ['protocol', 'host', 'hostname', 'port', 'pathname'].map((name) => g('a', 1)[name]()).join('|')",
    );
    assert_eq!(found, ":||||/x|?y=1|#z|/x?y=1#z https|h.test:81|h.test|81|/q");
}
