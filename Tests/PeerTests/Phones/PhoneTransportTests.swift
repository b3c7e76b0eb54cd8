import Foundation
import HealthStore
import NIOSSL
import PeerProtocol
import PeerTrust
import PhoneApps
import Testing

@testable import PeerClient

@Suite("Connections to phones")
struct PhoneTransportTests {
  @Test(
    "the oddest certificates are pinned, and a request leaves in one record, whatever TLS", arguments: [false, true])
  func odd(_ isTLS12: Bool) async throws {
    let app = HealthAppTransferApp()
    for (certificate, goodbye) in [
      (try PhoneCertificate.healthAppTransfer(isExpired: true), false), (try PhoneCertificate.healthSync(), true),
    ] {
      var quirks = PhoneServer.Quirks()
      (quirks.saysGoodbye, quirks.mostTLS) = (goodbye, isTLS12 ? .tlsv12 : nil)
      let server = try await PhoneServer(app, certificate, quirks: quirks)
      let fingerprint = try #require(Fingerprint(hex: certificate.fingerprint.uppercased()))
      for request in [
        AppRequest(.get, "/status"), try HealthAppTransferRequest.pair(code: "000000", deviceName: "laptop").request,
      ] {
        let answer = try await AppTransport.exchange(
          request, with: PeerEndpoint(host: "127.0.0.1", port: server.port), .pinned(fingerprint, peer: "phone"),
          TransportProfile(leastTLS: .tls12), silenceLimit: 10)
        #expect(answer.status == (request.method == .get ? 200 : 401))
      }
      #expect(server.counts.mostRecords == 1)
      #expect(server.counts.connections == 2)
      await server.stop()
    }
  }

  @Test("another certificate than the pinned one is sent nothing")
  func pin() async throws {
    let app = HealthAppTransferApp()
    let server = try await PhoneServer(app, try .healthAppTransfer())
    let (other, endpoint) = (Fingerprint(certificateDER: [1]), PeerEndpoint(host: "127.0.0.1", port: server.port))
    await #expect {
      try await AppTransport.exchange(
        AppRequest(.get, "/status"), with: endpoint, .pinned(other, peer: "phone"), TransportProfile(leastTLS: .tls12),
        silenceLimit: 10)
    } throws: {
      ($0 as? PeerError)?.category == .certificateChanged
    }
    #expect(app.state.withLock(\.requests).isEmpty)
    await server.stop()
  }

  @Test("an answer that breaks off, and an app that ends, are lost connections")
  func cut() async throws {
    let (app, certificate) = (HealthAppTransferApp(), try PhoneCertificate.healthAppTransfer())
    var quirks = PhoneServer.Quirks()
    quirks.cutsAnswers = true
    let server = try await PhoneServer(app, certificate, quirks: quirks)
    let (fingerprint, endpoint) = (
      try #require(Fingerprint(hex: certificate.fingerprint)), PeerEndpoint(host: "127.0.0.1", port: server.port)
    )
    for _ in 0..<2 {
      await #expect(throws: PeerError.connectionLost(endpoint: "\(endpoint)")) {
        try await AppTransport.exchange(
          AppRequest(.get, "/status"), with: endpoint, .pinned(fingerprint, peer: "phone"),
          TransportProfile(leastTLS: .tls12), silenceLimit: 10)
      }
      app.state.withLock { $0.crash = "a test" }
    }
    await server.stop()
  }

  /// An app that answers every request with the same text.
  private struct TextApp: PhoneApp {
    let text: String

    func react(to bytes: [UInt8]) -> PhoneReaction { .answer(Array(text.utf8)) }
  }

  @Test("what has the phone's certificate and does not answer in HTTP is not looked for elsewhere")
  func notHTTP() async throws {
    let certificate = try PhoneCertificate.healthAppTransfer()
    let server = try await PhoneServer(
      TextApp(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), certificate)
    let (fingerprint, endpoint) = (
      try #require(Fingerprint(hex: certificate.fingerprint)), PeerEndpoint(host: "127.0.0.1", port: server.port)
    )
    for (trust, suggestsAnother) in [
      (CertificateTrust.pinned(fingerprint, peer: "phone"), false), (.anyForPairing, true),
    ] {
      await #expect {
        try await AppTransport.exchange(
          AppRequest(.get, "/status"), with: endpoint, trust, TransportProfile(leastTLS: .tls12), silenceLimit: 10)
      } throws: {
        ($0 as? PeerError)?.suggestsAnotherAddress == suggestsAnother
      }
    }
    await server.stop()
  }

  @Test("an answer is read from pieces of any size, and what is none is refused")
  func reader() throws {
    let whole = Array("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".utf8)
    for size in 1...whole.count {
      var reader = AppAnswerReader(ClientLimits())
      var answer: AppAnswer?
      for start in stride(from: 0, to: whole.count, by: size) where answer == nil {
        answer = try reader.receive(whole[start..<min(start + size, whole.count)])
      }
      #expect(answer == AppAnswer(status: 200, body: Array("hello".utf8)))
    }
    for bad in [
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 ²⁰⁰ OK\r\n\r\n",
    ] {
      var reader = AppAnswerReader(ClientLimits())
      #expect(throws: AppAnswerReader.Failure.notHTTP, "\(bad)") { try reader.receive(Array(bad.utf8)) }
    }
    var endless = AppAnswerReader(ClientLimits())
    #expect(throws: AppAnswerReader.Failure.tooLong) {
      for _ in 0..<100 { _ = try endless.receive([UInt8](repeating: 65, count: 4_096)) }
    }
    var unsized = AppAnswerReader(ClientLimits())
    _ = try unsized.receive(Array("HTTP/1.1 401 Unauthorized\r\n\r\nMissing".utf8))
    #expect(try unsized.end().text == "Missing")
    var cut = AppAnswerReader(ClientLimits())
    _ = try cut.receive(whole.dropLast())
    #expect(throws: AppAnswerReader.Failure.cutOff) { try cut.end() }
  }

  @Test("an app, an hpeer and a stranger are told apart without anything secret")
  func greetings() async throws {
    let (app, certificate) = (HealthAppTransferApp(), try PhoneCertificate.healthAppTransfer())
    let server = try await PhoneServer(app, certificate)
    let endpoint = PeerEndpoint(host: "127.0.0.1", port: server.port)
    let greeting = ServerProbe(endpoint, trust: .anyForPairing)
    #expect(try await PeerDialects.dialect(of: greeting)?.name == "HealthAppTransfer")
    app.state.withLock { $0.status = 404 }
    #expect(try await PeerDialects.dialect(of: ServerProbe(endpoint, trust: .anyForPairing)) == nil)
    await server.stop()
  }
}
