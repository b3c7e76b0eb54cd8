import Testing

@testable import PeerDiscovery

@Suite("A snapshot of services")
struct SnapshotTests {
  private func service(
    _ name: String, address: String = "10.0.0.1", family: DiscoveredService.AddressFamily = .ipv4,
    interface: Int32 = 2, port: UInt16 = 1
  ) -> DiscoveredService {
    DiscoveredService(
      name: name, hostName: "\(name).local", address: address, addressFamily: family, port: port,
      interfaceName: "eth\(interface)", interfaceIndex: interface)
  }

  private func collect(
    _ events: [BrowseEvent], whenFound: (DiscoveredService) -> Void = { _ in }
  ) async throws -> [DiscoveredService] {
    let stream = AsyncThrowingStream<BrowseEvent, any Error> { continuation in
      for event in events { continuation.yield(event) }
      continuation.finish()
    }
    return try await ServiceBrowser.collect(stream, whenFound: whenFound).0.services
  }

  @Test("Services are listed in the order of appearance, once for every way to reach them")
  func order() async throws {
    let services = [
      service("b"), service("a"), service("b", address: "fe80::1%eth2", family: .ipv6), service("b", interface: 3),
      service("b", address: "10.0.0.9"),
    ]
    #expect(try await collect(services.map(BrowseEvent.found)) == services)
  }

  @Test("A service found again replaces what was known of it")
  func replaces() async throws {
    #expect(
      try await collect([.found(service("a", port: 1)), .found(service("b")), .found(service("a", port: 2))])
        == [service("a", port: 2), service("b")])
  }

  @Test("A lost service is gone, on that interface and IP version only")
  func lost() async throws {
    let elsewhere = service("a", interface: 3)
    let other = service("a", address: "fd00::1", family: .ipv6)
    #expect(
      try await collect([.found(service("a")), .found(elsewhere), .found(other), .lost(service("a").id)])
        == [elsewhere, other])
  }

  @Test("What was seen stays when avahi-daemon goes")
  func daemonGone() async throws {
    #expect(
      try await collect([.found(service("a")), .daemonGone(.connectionLost), .allForNow]) == [service("a")])
  }

  @Test("The entries of an address don't double when avahi-daemon was away, and what isn't seen again gives way")
  func daemonBack() async throws {
    let before = ["a", "b", "c"].map { service($0) }
    let elsewhere = service("d", address: "10.0.0.2")
    let after = ["c", "e", "f"].map { service($0) }
    let found = try await collect(
      (before + [elsewhere]).map(BrowseEvent.found) + [.daemonGone(.connectionLost), .daemonBack]
        + after.map(BrowseEvent.found))
    #expect(Set(found) == Set(after + [elsewhere]))
  }

  @Test("Each service found is offered to the caller")
  func offers() async throws {
    var offered: [DiscoveredService] = []
    _ = try await collect([.found(service("a")), .ignored(total: 1), .found(service("b"))]) { offered.append($0) }
    #expect(offered == [service("a"), service("b")])
  }
}
