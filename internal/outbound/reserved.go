package outbound

import "net/netip"

// addresses is a range of addresses that are not public, or never a receiver.
type addresses struct {
	prefix netip.Prefix
	what   string
	// never means that the range cannot be allowed.
	never bool
	// inner is the byte position of an embedded IPv4 address that is reached through them, 0 for
	// none.
	inner int
}

// reserved lists IANA's registries of special addresses, and the addresses where cloud machines serve their
// credentials.
func reserved() []addresses {
	never := func(what string, prefixes ...string) (out []addresses) {
		for _, p := range prefixes {
			out = append(out, addresses{prefix: netip.MustParsePrefix(p), what: what, never: true})
		}
		return out
	}
	list := never("the local link", "169.254.0.0/16", "fe80::/10")
	list = append(list, never("no machine", "0.0.0.0/8", "::/128")...)
	list = append(list, never("many machines", "224.0.0.0/4", "255.255.255.255/32", "ff00::/8")...)
	list = append(list, never("a cloud's metadata", "fd00:ec2::/32", "fd20:ce::254/128", "100.100.100.200/32",
		"192.0.0.192/32", "168.63.129.16/32")...)
	for _, p := range []string{
		"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fec0::/10",
	} {
		list = append(list, addresses{prefix: netip.MustParsePrefix(p)})
	}
	// IPv4 in IPv6: compatible, translated (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056).
	for p, inner := range map[string]int{
		"::/96": 12, "::ffff:0:0:0/96": 12, "64:ff9b::/96": 12, "64:ff9b:1::/48": 12, "2002::/16": 2,
	} {
		list = append(list, addresses{prefix: netip.MustParsePrefix(p), inner: inner})
	}
	return list
}

// embedded returns the IPv4 address that is reached through an IPv6 address.
func (a addresses) embedded(ip netip.Addr) (inner netip.Addr, found bool) {
	if a.inner == 0 || !ip.Is6() || ip.IsLoopback() {
		return netip.Addr{}, false
	}
	bytes := ip.As16()
	return netip.AddrFrom4([4]byte(bytes[a.inner : a.inner+4])), true
}
