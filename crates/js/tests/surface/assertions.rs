//! `k6chaijs` and `k6-testing`.

use super::lines::lines;
use super::run::{Trace, factory, json, run_script, settings};

fn run(imports: &[&str], body: &str) -> Trace {
    let modules = vec![factory(imports, &format!("exports.default = () => {{ {body} }}"))];
    run_script(modules, 1, 1, settings(), |_| json(200, r#"{"a": 1}"#))
}

/// Evaluates expectations that hold, and their negations, which must not hold.
#[test]
fn expects_what_holds_and_nothing_else() {
    let pairs = r#"[
        (e) => e(1).to.EQ(1), (e) => e({ a: [1] }).to.deep.EQ({ a: [1] }), (e) => e([1]).to.NOT.EQ([1]),
            (e) => e(5).to.be.above(4), (e) => e(5).to.be.at.least(5),
        (e) => e(5).to.be.below(6), (e) => e(5).to.be.at.most(5), (e) => e(5).to.be.within(5, 6),
            (e) => e('abc').to.match(/b/),
        (e) => e('abc').to.include('b'), (e) => e([1, 2]).to.contain(2),
            (e) => e({ a: 1, b: 2 }).to.include({ a: 1 }),
        (e) => e([{ a: 1 }]).to.deep.include({ a: 1 }), (e) => e('abc').to.have.lengthOf(3),
            (e) => e('abc').to.have.lengthOf.above(2), (e) => e([1]).to.have.length(1),
        (e) => e({ a: { b: 2 } }).to.have.property('a'), (e) => e({ a: 2 }).to.have.property('a', 2),
            (e) => e({ a: [{ b: 2 }] }).to.have.nested.property('a[0].b', 2),
        (e) => e([]).to.be.an('array'), (e) => e('x').to.be.a('string'), (e) => e(null).to.be.a('null'),
            (e) => e(new Error('x')).to.be.an.instanceOf(Error),
        (e) => e(1).to.be.oneOf([1, 2]), (e) => e({ a: 1, b: 2 }).to.have.all.keys('a', 'b'),
            (e) => e({ a: 1 }).to.have.any.keys('a', 'z'), (e) => e({ a: 1, b: 2 }).to.contain.keys('a'),
        (e) => e([2, 1]).to.have.members([1, 2]), (e) => e([1, 2, 3]).to.include.members([3]),
            (e) => e(() => { throw new TypeError('no') }).to.throw(TypeError, 'no'),
        (e) => e(1).to.be.ok, (e) => e(true).to.be.true, (e) => e(undefined).to.be.undefined, (e) => e('').to.be.empty,
        (e) => e({}).to.exist, (e) => e(NaN).to.be.NaN,
        (e) => e(1.05).to.be.closeTo(1, 0.1), (e) => e('abc').to.have.string('bc'),
            (e) => e(3).to.satisfy((n) => n > 2)]"#
        .replace("EQ(", "equal(")
        .replace("NOT", "not");
    let body = format!(
        "const bad = []; {pairs}.forEach((one, at) => {{ try {{ one(m0.expect) }} catch (e) {{ bad.push(at + \
            e.message) }} \
         try {{ one((v) => m0.expect(v).not); bad.push(at + ' negated') }} catch (e) {{ if (e.name !== \
            'AssertionError') bad.push(at + e.message) }} }}); \
         console.log(bad.join(' | '));"
    );
    assert_eq!(lines(&["jslib/k6chaijs"], &body), [""]);
}

#[test]
fn ends_a_description_at_the_first_expectation_that_is_not_met() {
    let body = "const { describe, expect } = m0; \
                console.log(describe('good', () => { const r = m1.default.get('http://127.0.0.1:8080/'); \
                expect(r.status, 'status').to.equal(200); expect(r).to.have.validJsonBody(); \
                expect(r).to.have.status(200) })); \
                console.log(describe('bad', () => { expect(1, 'one').to.equal(2); console.log('unreachable') })); \
                console.log(describe('thrown', () => { null.x }));";
    let trace = run(&["jslib/k6chaijs", "k6/http"], body);
    let texts: Vec<_> = trace.console.iter().filter(|line| line.starts_with("info")).collect();
    assert_eq!(texts, ["info: true", "info: false", "info: false"], "{:?}", trace.console);
    assert_eq!(trace.checks["expected status to equal 200"], (1, 0));
    assert_eq!(trace.checks["expected the value to have a valid JSON body"], (1, 0));
    assert_eq!(trace.checks["expected one to equal 2"], (1, 1));
    assert!(
        trace.checks.keys().any(|name| name.starts_with("no exception, but: TypeError")),
        "{:?}",
        trace.checks
    );
}

#[test]
fn shows_values_if_checks_are_not_aggregated() {
    let body = "const chai = m0.default; chai.config.aggregateChecks = false; \
            chai.config.truncateVariableThreshold = 5; \
                chai.expect('abcdefgh').to.be.a('string'); console.log(typeof chai.describe);";
    let trace = run(&["jslib/k6chaijs"], body);
    assert_eq!(trace.checks["expected 'abcd... to be a string"], (1, 0));
    assert_eq!(trace.console, ["info: function"]);
}

#[test]
fn matches_as_playwright_does() {
    let body = "const soft = m0.expect.configure({ soft: true, softMode: 'throw' }), bad = []; \
                [(e) => e(1).toBe(1), (e) => e({ a: 1, b: undefined }).toEqual({ a: 1 }), (e) => e({ a: 1 \
                }).toStrictEqual({ a: 1 }), (e) => e(0.1 + 0.2).toBeCloseTo(0.3), \
                 (e) => e(1).toBeDefined(), (e) => e(null).toBeNull(), (e) => e('x').toBeTruthy(), (e) => \
                 e(0).toBeFalsy(), (e) => e(2).toBeGreaterThan(1), (e) => e(2).toBeLessThanOrEqual(2), \
                 (e) => e([1, 2]).toContain(2), (e) => e([{ a: 1 }]).toContainEqual({ a: 1 }), (e) => \
                 e('abc').toHaveLength(3), (e) => e('abc').toMatch(/b/), (e) => e('abc').toMatch('bc'), \
                 (e) => e({ a: { b: 1, c: 2 } }).toMatchObject({ a: { b: 1 } }), (e) => e({ a: [{ b: 1 }] \
                 }).toHaveProperty('a[0].b', 1), (e) => e(() => { throw new Error('no') }).toThrow('no'), \
                 (e) => e([]).toBeInstanceOf(Array)].forEach((one, at) => { try { one(soft) } catch (e) { \
                 bad.push(at + e.message) } \
                   try { one((v) => soft(v).not); bad.push(at) } catch (e) { if (e.name !== 'AssertionFailed') \
                   bad.push(at + e.message) } }); \
                console.log(bad.join()); try { soft(1, 'the answer').toBe(2) } catch (e) { console.log(e.message) } \
                try { soft({}).toBeVisible() } catch (e) { console.log(e.message) } \
                m0.expect.soft(1).toBe(3); console.log('next'); try { m0.expect([1]).toContain(4) } catch (e) { \
                console.log(e.message) }";
    let trace = run(&["jslib/k6-testing"], body);
    assert_eq!(
        trace.console,
        [
            "info: ",
            "info: the answer: expected 1 to be 2",
            "info: expect().toBeVisible() is not supported: there is no browser",
            "error: expected 1 to be 3",
            "info: next",
            "error: expected [1] to contain 4",
        ]
    );
}
