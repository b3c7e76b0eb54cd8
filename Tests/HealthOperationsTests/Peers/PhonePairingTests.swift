import Foundation
import HealthModel
import HealthOperations
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import PhoneApps
import Synchronization
import Testing

/// Tests of pairing with phone apps over TLS, with a QR code and with typed input.
@Suite("Pairing with phones") struct PhonePairingTests {
  private let laptop: TestHome

  init() async throws { laptop = try TestHome() }

  /// A simulated phone on loopback.
  private struct Phone {
    let server: PhoneServer
    let certificate: PhoneCertificate
    var endpoint: PeerEndpoint { PeerEndpoint(host: "127.0.0.1", port: server.port) }
    var fingerprint: Fingerprint { get throws { try #require(Fingerprint(hex: certificate.fingerprint)) } }

    init(_ app: any PhoneApp, _ certificate: PhoneCertificate) async throws {
      (server, self.certificate) = (try await PhoneServer(app, certificate), certificate)
    }
  }

  /// A recorder of the notices that a person would see.
  private final class Notices: Sendable {
    private let state = Mutex<[PeerNotice]>([])
    var all: [PeerNotice] { state.withLock(\.self) }
    @Sendable func add(_ notice: PeerNotice) { state.withLock { $0.append(notice) } }
  }

  private func operation(_ notices: Notices = Notices()) async throws -> PairOperation {
    PairOperation(try await laptop.local(name: "laptop"), notice: notices.add)
  }

  private func code(in payload: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any]
    return try #require(object?["code"] as? String)
  }

  // Of the moment: other tests may run for minutes before it is asked for.
  private static var now: TimeInterval { Date().timeIntervalSince1970 }

  @Test("a code says a loopback host, no end, and the fingerprint in upper case")
  func healthSyncTraps() async throws {
    let app = HealthSyncApp()
    let phone = try await Phone(app, .healthSync())
    let text = app.payload(
      host: "127.0.0.1", port: phone.server.port, fingerprint: phone.certificate.fingerprint.uppercased(), expiry: nil)
    let notices = Notices()
    let record = try await operation(notices).run(with: [], code: .text("\n \(text)\n", name: "HealthSync-3FA2C41D"))
    #expect(record.dialect == "HealthSync")
    #expect(record.name == "HealthSync-3FA2C41D")
    #expect(try record.fingerprint == phone.fingerprint)
    #expect(record.expires.map { $0.timeIntervalSinceNow > 20 * 86_400 } == true)
    #expect(notices.all.isEmpty)
    #expect(app.state.withLock(\.crash) == nil)
    let event = try #require(try await laptop.audited().first)
    #expect(event.event == "pairing.succeeded")
    #expect(event.detail["dialect"] == "HealthSync")
    await phone.server.stop()
  }

  @Test(
    "a code that looks old by this clock is tried, and whose clock may be off is said, whether it is taken or refused")
  func clocks() async throws {
    let app = HealthAppTransferApp()
    let phone = try await Phone(app, .healthAppTransfer())
    let text = app.payload(
      host: "127.0.0.1", port: phone.server.port, fingerprint: phone.certificate.fingerprint, expiry: Self.now - 4_000)
    let taken = Notices()
    #expect(try await operation(taken).run(with: [], code: .text(text, name: nil)).dialect == "HealthAppTransfer")
    guard case .clocksDiffer(let difference)? = taken.all.first, taken.all.count == 1 else {
      Issue.record("\(taken.all)")
      return
    }
    #expect((3_900...4_100).contains(difference.seconds))
    // The same again, which was used.
    let refused = Notices()
    await #expect {
      try await operation(refused).run(with: [], code: .text(text, name: nil))
    } throws: { error in
      if case PeerError.codeRefused? = error as? PeerError { true } else { false }
    }
    guard case .codeLooksOld(let seconds)? = refused.all.first, refused.all.count == 1 else {
      Issue.record("\(refused.all)")
      return
    }
    #expect((3_900...4_100).contains(seconds))
    await phone.server.stop()
  }

  @Test("by code and fingerprint, as the screen shows both", arguments: [true, false])
  func typed(_ isHealthSync: Bool) async throws {
    let (sync, transfer) = (HealthSyncApp(), HealthAppTransferApp())
    let phone =
      isHealthSync ? try await Phone(sync, .healthSync()) : try await Phone(transfer, .healthAppTransfer())
    let (hex, expiry) = (phone.certificate.fingerprint, Self.now + 300)
    let payload =
      isHealthSync
      ? sync.payload(host: "127.0.0.1", port: 1, fingerprint: hex, expiry: expiry)
      : transfer.payload(host: "127.0.0.1", port: 1, fingerprint: hex, expiry: expiry)
    let shown = stride(from: 0, to: 64, by: 2).map { hex.uppercased().dropFirst($0).prefix(2) }.joined(separator: ":")
    let fingerprint = try #require(Fingerprint(shown: " \(shown) "))
    let record = try await operation().run(
      with: [phone.endpoint], code: .typed(try code(in: payload), fingerprint, name: "phone"))
    #expect(record.dialect == (isHealthSync ? "HealthSync" : "HealthAppTransfer"))
    #expect(record.name == "phone")
    await phone.server.stop()
  }

  @Test("where the certificate is another, or the app another than the code's, the code is not sent")
  func otherCertificate() async throws {
    let app = HealthSyncApp()
    let phone = try await Phone(app, .healthSync())
    let payload = app.payload(
      host: "127.0.0.1", port: 1, fingerprint: phone.certificate.fingerprint, expiry: Self.now + 300)
    let other = Fingerprint(certificateDER: [1])
    await #expect(throws: PairError.anotherMachine("phone")) {
      try await operation().run(with: [phone.endpoint], code: .typed(try code(in: payload), other, name: "phone"))
    }
    #expect(app.state.withLock(\.requests).isEmpty)
    let fingerprint = try phone.fingerprint
    await #expect(throws: PairError.noCode) {
      try await operation().run(with: [phone.endpoint], code: .typed("123456", fingerprint, name: "phone"))
    }
    await #expect(throws: PairError.noCode) {
      try await operation().run(with: [phone.endpoint], code: .typed("12", fingerprint, name: "phone"))
    }
    #expect(app.state.withLock { $0.requests.allSatisfy { !$0.hasPrefix("POST") } })
    #expect(app.state.withLock(\.failures) == 0)
    #expect(try await laptop.local(name: "laptop").registry.servers().isEmpty)
    await phone.server.stop()
  }

  @Test("by a code alone an app is sent nothing, asked for or given")
  func codeAlone() async throws {
    let app = HealthAppTransferApp()
    let phone = try await Phone(app, .healthAppTransfer())
    let alone = PairError.codeAlone(peer: "\(phone.endpoint)", app: "HealthAppTransfer")
    let digits = try #require(PairingCode("123456"))
    await #expect(throws: alone) { try await operation().run(with: [phone.endpoint], code: .digits(digits)) }
    await #expect(throws: alone) {
      try await operation().run(
        with: [phone.endpoint],
        code: .asked { _ in
          Issue.record("asked for a code of an app")
          return nil
        })
    }
    #expect(app.state.withLock { $0.requests.allSatisfy { !$0.hasPrefix("POST") } })
    await phone.server.stop()
  }

  @Test("an hpeer is paired with by code and fingerprint, too, and another is not")
  func hpeer() async throws {
    let (studio, laptop) = (try TestHome(), laptop)
    try await ServedHome.run(studio) { served in
      let payload = try await served.window()
      let endpoint = PeerEndpoint(host: payload.host, port: Int(payload.port))
      await #expect(throws: PairError.anotherMachine("studio")) {
        try await PairOperation(try await laptop.local(name: "laptop")).run(
          with: [endpoint], code: .typed(payload.code.digits, Fingerprint(certificateDER: [1]), name: "studio"))
      }
      let record = try await PairOperation(try await laptop.local(name: "laptop")).run(
        with: [endpoint], code: .typed(payload.code.grouped, payload.fingerprint, name: "studio"))
      #expect(record.dialect == "hpeer")
      #expect(record.fingerprint == payload.fingerprint)
    }
  }

  @Test(
    "a host that is this machine is told by its address, and not by how a name begins",
    arguments: [
      ("127.0.0.1", true), ("127.9.9.9", true), ("0.0.0.0", true), ("::1", true), ("::ffff:127.0.0.1", true),
      ("localhost", true), ("127.example.org", false), ("192.0.2.127", false),
    ])
  func loopback(_ host: String, _ isHere: Bool) {
    let invitation = PairingInvitation(
      host: host, port: 5_000, fingerprint: Fingerprint(certificateDER: [7]), code: "AbCdEf23", expiry: nil)
    #expect((invitation.loopback != nil) == isHere)
    #expect((invitation.endpoint == nil) == isHere)
  }

  @Test("of the codes in a picture, the one that is an invitation is taken, and of several none")
  func several() throws {
    let app = HealthSyncApp()
    let hex = String(repeating: "9fab", count: 16)
    let one = app.payload(host: "192.0.2.7", port: 5_000, fingerprint: hex, expiry: nil)
    let two = app.payload(host: "192.0.2.8", port: 6_000, fingerprint: hex, expiry: nil)
    #expect(try PairOperation.invitation(among: ["https://example.org", one]) == one)
    #expect(throws: PairError.severalCodes(["192.0.2.7:5000", "192.0.2.8:6000"])) {
      try PairOperation.invitation(among: [one, two])
    }
    // One code that is in the picture twice is one.
    #expect(try PairOperation.invitation(among: [one, one]) == one)
    let shown = try PairOperation.shownInvitations(among: [two, "x", one, two])
    #expect(shown.map(\.place) == ["192.0.2.8:6000", "192.0.2.7:5000"])
    #expect(shown.map(\.text) == [two, one] && shown.allSatisfy { $0.kinds == ["HealthSync"] })
    #expect(throws: PairingPayloadError.notAPayload) { try PairOperation.invitation(among: ["https://example.org"]) }
    #expect(throws: PairingPayloadError.unsupportedVersion("2")) {
      try PairOperation.invitation(among: [one.replacing(#""version":"1""#, with: #""version":"2""#), "x"])
    }
  }
}
