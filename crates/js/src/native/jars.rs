//! `http.cookieJar()` and `http.CookieJar`.

use super::Row;
use crate::host::Host;
use crate::http::url;
use crate::jar::{Cookie, Jar, Place};
use plimsoll_plan::request::Url;
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) const ROWS: &[Row] = &[
    ("cookieJar", 0, current),
    ("CookieJar", 0, make),
    ("jarSet", 4, set),
    ("jarCookies", 1, cookies),
    ("jarClear", 1, clear),
    ("jarDelete", 2, delete),
];

pub(super) fn install(realm: &Realm, host: &Rc<Host>) -> Result<(), Thrown> {
    let prototype = realm.object();
    prototype.set_str("set", realm.function("set", 4, set))?;
    prototype.set_str("cookiesForURL", realm.function("cookiesForURL", 1, cookies))?;
    prototype.set_str("clear", realm.function("clear", 1, clear))?;
    prototype.set_str("delete", realm.function("delete", 2, delete))?;
    host.jars.set_prototype(realm, prototype);
    Ok(())
}

/// Returns the jar of an object; `None` for any other value.
pub fn of(value: &Value) -> Option<Rc<RefCell<Jar>>> {
    let host = Host::of_runtime(value.realm().runtime())?;
    host.jars.get(value).map(Rc::clone)
}

fn current(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "http.cookieJar()")?;
    let jar = Rc::clone(&vu.jar.borrow());
    Ok(host.jars.object(realm, jar))
}

fn make(call: &Call<'_>) -> Result<Value, Thrown> {
    Ok(Host::of(call)?.jars.object(call.realm(), Rc::default()))
}

fn jar(call: &Call<'_>) -> Result<Rc<RefCell<Jar>>, Thrown> {
    of(&call.this()).ok_or_else(|| call.realm().error("TypeError", "this function belongs to a cookie jar"))
}

/// Parses the URL that is the first argument.
fn place_url(call: &Call<'_>) -> Result<Url, Thrown> {
    let text = call.argument(0).to_text()?;
    let mut url = url::parse(&text).map_err(|why| call.realm().error("TypeError", &why))?;
    url.target.host = url.target.host.to_ascii_lowercase();
    Ok(url)
}

fn place<'a>(host: &Host, url: &'a Url) -> Place<'a> {
    let now_s = (host.at.get().unix_ns / 1_000_000_000) as i64;
    Place { host: &url.target.host, path: &url.path, is_secure: url.target.tls, now_s }
}

fn set(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let (jar, url) = (jar(call)?, place_url(call)?);
    let place = place(host, &url);
    let mut cookie = Cookie {
        name: call.argument(1).to_text()?,
        value: call.argument(2).to_text()?,
        domain: place.host.to_owned(),
        path: "/".to_owned(),
        host_only: true,
        ..Cookie::default()
    };
    let options = call.argument(3);
    if options.is_object() {
        for key in options.keys()? {
            let value = options.get_str(&key)?;
            match key.to_ascii_lowercase().as_str() {
                "domain" => {
                    cookie.domain = value.to_text()?.trim_start_matches('.').to_ascii_lowercase();
                    cookie.host_only = false;
                }
                "path" => cookie.path = value.to_text()?,
                "max_age" => {
                    cookie.max_age_s = value.to_number()? as i64;
                    cookie.expires_s = Some(place.now_s.saturating_add(cookie.max_age_s));
                }
                "expires" => {
                    let text = value.to_text()?;
                    let expires_s = plimsoll_script::ask::cookie_date(text.as_bytes());
                    let wrong = || realm.error("TypeError", &format!("invalid date `{text}` of a cookie"));
                    cookie.expires_s = Some(expires_s.ok_or_else(wrong)?);
                }
                "secure" => cookie.secure = value.truth(),
                "http_only" => cookie.http_only = value.truth(),
                _ => {}
            }
        }
    }
    jar.borrow_mut().set(cookie, place.now_s);
    Ok(realm.bool(true))
}

/// Returns the cookies for a URL: lists of values by name.
fn cookies(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let (jar, url) = (jar(call)?, place_url(call)?);
    let object = realm.object();
    for cookie in jar.borrow().matching(place(host, &url)) {
        let mut list = object.get_str(&cookie.name)?;
        if !list.is_array() {
            list = realm.array();
            object.set_str(&cookie.name, list.clone())?;
        }
        list.set_index(list.length()?, realm.text(&cookie.value))?;
    }
    Ok(object)
}

fn clear(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let (jar, url) = (jar(call)?, place_url(call)?);
    jar.borrow_mut().clear(place(host, &url));
    Ok(call.realm().undefined())
}

fn delete(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let (jar, url) = (jar(call)?, place_url(call)?);
    jar.borrow_mut().delete(place(host, &url), &call.argument(1).to_text()?);
    Ok(call.realm().undefined())
}
