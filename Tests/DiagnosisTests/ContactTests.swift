import Foundation
import HealthModel
import OperatingSystem
import PeerClient
import PeerProtocol
import Testing

@testable import Diagnosis
@testable import PeerTrust

@Suite("Paired machines, tried over the network")
struct ContactTests {
  private static let here = PeerEndpoint(host: "192.168.1.20", port: 8737)
  private static let old = PeerEndpoint(host: "192.168.1.9", port: 8737)

  private static func server(_ byte: UInt8 = 1, _ name: String = "studio") throws -> ServerRecord {
    ServerRecord(
      id: try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: name,
      fingerprint: try #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32))),
      credential: BearerCredential(try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32)))))
  }

  private static func statement(
    name: String = "studio", clockLead: Double? = 0.2, token: PeerDiagnosis.Verdict = .accepted,
    otherEnd: PeerDiagnosis.OtherEnd? = nil
  ) -> Result<PeerDiagnosis.Statement, PeerError> {
    .success(.init(name: name, version: "1.2.3", clockLead: clockLead, token: token, otherEnd: otherEnd))
  }

  private static func found(_ answer: Result<PeerDiagnosis.Statement, PeerError> = statement()) -> PeerDiagnosis {
    PeerDiagnosis(addresses: [.init(here, isAnnounced: true, .proven)], answer: answer)
  }

  private static func findings(_ trials: [(ServerRecord, PeerDiagnosis)], of peer: PeerID? = nil) async -> [Finding] {
    var subject = Subject.test()
    subject.peer = peer
    var check = ContactCheck(subject: subject)
    check.machine.way = { _ in .unknown }
    check.servers = { trials.map(\.0) }
    check.tester = { { server, _ in trials.first { $0.0.id == server.id }?.1 ?? PeerDiagnosis(addresses: []) } }
    return await check.findings()
  }

  /// Returns the findings without and with the server named.
  private static func both(_ trial: PeerDiagnosis) async throws -> (short: [Finding], named: [Finding]) {
    let server = try server()
    return (await findings([(server, trial)]), await findings([(server, trial)], of: server.id))
  }

  @Test("all well: one line for each machine, and with a name each step, the other end's commands last")
  func healthy() async throws {
    let (short, named) = try await Self.both(Self.found())
    #expect(short.ids == ["peer.ok"])
    #expect(
      named.ids == [
        "peer.announced", "peer.reached", "peer.certificate", "peer.token", "peer.clock", "peer.says", "peer.otherEnd",
      ])
    #expect(named.dropLast().allSatisfy { $0.severity == .ok })
    #expect(named.first("peer.announced")?.text.contains("192.168.1.20:8737") == true)
    #expect(named.first("peer.says")?.text.contains("1.2.3") == true)
    #expect(named.last?.remedy?.contains("hpeer doctor") == true && named.last?.remedy?.contains("hpeer peers") == true)
    #expect(await Self.findings([]).isEmpty)
  }

  @Test("several are tried, in their order; one that is off is no obstacle, unless it was named")
  func off() async throws {
    let away = PeerDiagnosis(addresses: [.init(Self.old, isAnnounced: false, .unreachable("no answer within 3 s"))])
    let (attic, studio) = (try Self.server(2, "attic"), try Self.server())
    let found = await Self.findings([(attic, away), (studio, Self.found())])
    #expect(found.ids == ["peer.away", "peer.ok"] && found.areHealthy)
    #expect(found[0].severity == .note && found[0].remedy == "if it should be there: hpeer doctor attic")
    #expect(found[0].text.contains("192.168.1.9:8737: no answer within 3 s"))
    #expect(found.map(\.peer) == ["attic", "studio"] && found.unreachedPeers == ["attic"])
    let named = await Self.findings([(attic, away), (studio, Self.found())], of: attic.id)
    #expect(named.ids == ["peer.unannounced", "peer.unreachable", "peer.otherEnd"] && !named.areHealthy)
    #expect(named.unreachedPeers == ["attic"])
    #expect(named.first("peer.unreachable")?.remedy?.contains("on attic: start `hpeer serve`") == true)
  }

  @Test(
    "why a machine is not reached: no route, a tunnel, nobody there, or somebody who does not let this in",
    arguments: [
      (NetworkRoute.none, "0x2", "peer.noRoute"), (.from(IPv4Address(value: 0x0A08_0002)), "0x2", "peer.tunnel"),
      (.from(IPv4Address(value: 0xC0A8_0107)), "0x0", "peer.absent"),
      (.from(IPv4Address(value: 0xC0A8_0107)), "0x2", "peer.present"), (.unknown, "0x0", ""),
    ])
  func way(_ way: NetworkRoute, _ flags: String, _ id: String) async throws {
    let away = PeerDiagnosis(addresses: [.init(Self.old, isAnnounced: false, .unreachable("no answer within 3 s"))])
    let server = try Self.server()
    var subject = Subject.test()
    subject.peer = server.id
    var check = ContactCheck(subject: subject)
    check.machine.way = { $0.description == "192.168.1.9" ? way : .unknown }
    check.machine.interfaces = {
      [
        NetworkInterface(name: "eth0", address: IPv4Address("192.168.1.7")),
        NetworkInterface(name: "wg0", address: IPv4Address("10.8.0.2")),
      ]
    }
    check.machine.read = { path in
      guard path == "/proc/net/arp" else { return .absent }
      return .text(
        """
        IP address       HW type     Flags       HW address            Mask     Device
        192.168.1.1      0x1         0x2         00:11:22:33:44:55     *        eth0
        192.168.1.9      0x1         \(flags)         00:00:00:00:00:00     *        eth0

        """)
    }
    check.servers = { [server] }
    check.tester = { { _, _ in away } }
    let found = await check.findings()
    #expect(
      found.ids.filter { ["peer.noRoute", "peer.tunnel", "peer.absent", "peer.present"].contains($0) }
        == [id].filter { !$0.isEmpty })
    #expect(await Self.findings([(server, away)]).ids == ["peer.away"])
  }

  @Test("the way of packets to this machine itself is known")
  func realWay() {
    #expect(NetworkRoute.to(IPv4Address(value: 0x7F00_0001)) == .from(IPv4Address(value: 0x7F00_0001)))
  }

  @Test("nobody could be asked for announcements: the reason, which names the remedy, and not for each machine")
  func deaf() async throws {
    var trial = Self.found()
    trial.addresses = [.init(Self.old, isAnnounced: false, .proven)]
    trial.deafness = "avahi-daemon is not running: start it"
    let (short, named) = try await Self.both(trial)
    #expect(short.ids == ["peer.ok"])
    #expect(named.first("peer.unheard")?.remedy == "avahi-daemon is not running: start it")
    #expect(named.first("peer.reached") != nil)
  }

  @Test("another certificate stands in the way where the machine claims to be, not where somebody has its name")
  func otherCertificate() async throws {
    let seen = try #require(Fingerprint(bytes: [UInt8](repeating: 9, count: 32)))
    let impostor = PeerDiagnosis(addresses: [.init(Self.here, isAnnounced: true, .otherCertificate(seen))])
    let (short, named) = try await Self.both(impostor)
    #expect(short.ids == ["peer.away", "peer.otherCertificate"] && !short.areHealthy)
    #expect(named.first("peer.otherCertificate")?.text.contains(seen.grouped) == true)
    #expect(named.first("peer.otherCertificate")?.remedy?.contains("hpeer identity") == true)
    let namesake = PeerDiagnosis(
      addresses: [.init(Self.here, isAnnounced: true, claimsID: false, .otherCertificate(seen))])
    #expect(try await Self.both(namesake).short.areHealthy)
    // Found elsewhere, so that the other one is in nobody's way.
    var moved = Self.found()
    moved.addresses.append(.init(Self.old, isAnnounced: false, .otherCertificate(seen)))
    let both = try await Self.both(moved)
    #expect(both.short.ids == ["peer.ok"])
    #expect(both.named.first("peer.reached")?.text.contains("not at 192.168.1.9:8737: another machine answers") == true)
  }

  @Test("a token that is refused, and one that could not be tried")
  func token() async throws {
    let (short, named) = try await Self.both(Self.found(Self.statement(token: .refused)))
    #expect(short.ids == ["peer.refused"] && short.areHealthy)
    #expect(named.first("peer.refused")?.severity == .blocking)
    #expect(named.first("peer.refused")?.remedy?.hasPrefix("hpeer pair studio;") == true)
    #expect(try await Self.both(Self.found(Self.statement(token: .untried))).short.ids == ["peer.untried"])
    #expect(try await Self.both(Self.found(Self.statement(token: .unclear("503")))).short.ids == ["peer.unclear"])
  }

  @Test(
    "clocks that are apart, by how much and in which direction", arguments: [(400.0, "ahead of"), (-90_000, "behind")])
  func clock(lead: Double, words: String) async throws {
    let found = try await Self.both(Self.found(Self.statement(clockLead: lead))).short
    #expect(found.ids == ["peer.clock.apart"])
    #expect(found[0].text.contains(words), "\(found)")
    #expect(found[0].remedy?.contains("timedatectl") == true)
    #expect(try await Self.both(Self.found(Self.statement(clockLead: 100))).short.ids == ["peer.ok"])
    for odd in [nil, Double.nan, .infinity] {
      #expect(try await Self.both(Self.found(Self.statement(clockLead: odd))).short.ids == ["peer.clock.unknown"])
    }
  }

  @Test("a new name, and a server that takes connections and does not answer")
  func words() async throws {
    let renamed = try await Self.both(Self.found(Self.statement(name: "barn"))).short
    #expect(renamed.ids == ["peer.says"] && renamed[0].text.contains("calls itself barn"))
    let silent = Self.found(.failure(.silent(endpoint: "192.168.1.20:8737", seconds: 5)))
    let (short, named) = try await Self.both(silent)
    #expect(short.ids == ["peer.silent"] && short.areHealthy)
    #expect(named.first("peer.silent")?.severity == .blocking)
  }

  // MARK: The other end

  private static func view(
    scope: SampleFilter = .everything, onlyDaily: Bool = false, lowSpace: Bool = false,
    following: PairingView.Following? = nil
  ) -> PairingView {
    PairingView(
      address: "192.168.1.7", scope: scope, onlyDaily: onlyDaily, lastSeen: WireInstant(clamping: 1_718_361_000),
      expires: WireInstant(clamping: 1_721_039_400), lowSpace: lowSpace, following: following)
  }

  private static func named(_ otherEnd: PeerDiagnosis.OtherEnd) async throws -> [Finding] {
    try await both(found(statement(otherEnd: otherEnd))).named.filter { $0.id.hasPrefix("peer.otherEnd") }
  }

  @Test("the other end sees nothing amiss: where this machine is, what it may read and until when")
  func otherEnd() async throws {
    let found = try await Self.named(.said(Self.view()))
    #expect(found.ids == ["seen", "scope", "ends", "apart"].map { "peer.otherEnd.\($0)" })
    #expect(found.allSatisfy { $0.severity == .ok && $0.remedy == nil })
    #expect(found[0].text.contains("192.168.1.7") && found[0].text.contains("2024-06-14"))
    #expect(found[1].text.hasSuffix("read everything"))
    #expect(found[2].text.contains("2024-07-15"))
  }

  @Test("the other end gives less than everything, has no room, or does not reach this machine")
  func otherEndAmiss() async throws {
    for view in [Self.view(scope: SampleFilter(types: [.workout])), Self.view(onlyDaily: true)] {
      let scope = try await Self.named(.said(view)).first("peer.otherEnd.scope")
      #expect(scope?.severity == .note && scope?.remedy?.contains("hpeer peers set") == true)
    }
    let full = try await Self.named(.said(Self.view(lowSpace: true))).first("peer.otherEnd.room")
    #expect(full?.severity == .warning && full?.remedy?.contains("on studio") == true)
    for outcome in PairingView.Outcome.allCases {
      let view = Self.view(following: .init(endpoint: "192.168.1.7:8737", outcome: outcome))
      let way = try #require(try await Self.named(.said(view)).last)
      switch outcome {
      case .reached: #expect(way.id == "peer.otherEnd.reaches" && way.severity == .ok)
      case .untried: #expect(way.id == "peer.otherEnd.untried" && way.severity == .note)
      default:
        #expect(way.id == "peer.otherEnd.unreached" && way.severity == .warning)
        #expect(way.text.contains("192.168.1.7:8737") && way.remedy?.contains("hpeer serve") == true)
      }
    }
  }

  @Test("an older hpeer, and an answer that is none, are no failure")
  func otherEndCannotSay() async throws {
    let older = try await Self.named(.older)
    #expect(older.ids == ["peer.otherEnd.older"] && older[0].severity == .note)
    #expect(older[0].text.contains("is an older hpeer that cannot say"))
    let unclear = try await Self.named(.unclear("it said something else"))
    #expect(unclear.ids == ["peer.otherEnd.unclear"] && unclear.areHealthy)
    #expect(unclear[0].text.contains("it said something else"))
  }

  @Test("a locked machine is not taken for one that refuses")
  func locked() async throws {
    let named = try await Self.both(Self.found(Self.statement(token: .locked))).named
    #expect(named.first("peer.locked")?.remedy == "on studio: hpeer unlock" && named.areHealthy)
  }
}
