//! Addresses that a load may go to.

use plimsoll_plan::policy::{AddressClass, address_class, proof_permits};

#[test]
fn public_addresses_need_permission_and_some_are_never_targets() {
    let class = |a: &str| address_class(a.parse().unwrap());
    assert_eq!(class("127.8.9.1"), AddressClass::Loopback);
    assert_eq!(class("::ffff:10.0.0.1"), AddressClass::Private);
    assert_eq!(class("fd12::1"), AddressClass::Private);
    assert_eq!(class("203.0.113.9"), AddressClass::Public);
    assert_eq!(class("2001:db8::1"), AddressClass::Public);
    assert!(proof_permits("allow: a.test\nexpires: 2030-01-01", "A.test", "2026-01-01").is_ok());
    assert!(proof_permits("allow: a.test\nexpires: 2020-01-01", "a.test", "2026-01-01").is_err());
    assert!(proof_permits("allow: b.test", "a.test", "2026-01-01").is_err());
}

#[test]
fn special_addresses_of_clouds_are_never_targets() {
    let class = |a: &str| address_class(a.parse().unwrap());
    for address in [
        "169.254.169.254",
        "169.254.169.253",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "192.0.0.192",
        "100.100.100.200",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
        "224.0.0.1",
        "255.255.255.255",
        "ff02::1",
    ] {
        assert_eq!(class(address), AddressClass::Forbidden, "{address}");
    }
    // Addresses next to these have the class of their range.
    for address in ["169.254.169.1", "100.100.100.201", "fd00:ec2::255", "fe80::1"] {
        assert_eq!(class(address), AddressClass::Private, "{address}");
    }
    assert_eq!(class("168.63.129.17"), AddressClass::Public);
}

#[test]
fn an_ipv4_address_inside_an_ipv6_address_keeps_its_class() {
    let class = |a: &str| address_class(a.parse().unwrap());
    for (inside, expected) in [
        ("169.254.169.254", AddressClass::Forbidden),
        ("168.63.129.16", AddressClass::Forbidden),
        ("224.0.0.1", AddressClass::Forbidden),
        ("10.0.0.1", AddressClass::Private),
        ("203.0.113.9", AddressClass::Public),
    ] {
        let v4: std::net::Ipv4Addr = inside.parse().unwrap();
        let [a, b, c, d] = v4.octets();
        assert_eq!(class(&format!("::ffff:{inside}")), expected, "mapped {inside}");
        assert_eq!(class(&format!("64:ff9b::{inside}")), expected, "NAT64 {inside}");
        assert_eq!(class(&format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1")), expected, "6to4 {inside}");
    }
    assert_eq!(class("::ffff:127.0.0.1"), AddressClass::Loopback);
    // A NAT64 or 6to4 address that contains a loopback address means the translator's loopback.
    assert_eq!(class("64:ff9b::127.0.0.1"), AddressClass::Public);
    assert_eq!(class("2002:7f00:1::1"), AddressClass::Public);
}
