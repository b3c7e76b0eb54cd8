import Foundation
import PeerDiscovery
import PhoneApps
import Synchronization

/// A phone that serves one simulated app.
final class StandIn: Sendable {
  private struct Running {
    var server: PhoneServer?
    var announcing: Task<Void, Never>?
  }

  private let name: String
  private let host: String
  private let app: any PhoneApp
  private let transfer = HealthAppTransferApp()
  private let sync = HealthSyncApp()
  private let certificate: PhoneCertificate
  private let running = Mutex(Running())

  init(kind: String, name: String, host: String) throws {
    (self.name, self.host) = (name, host)
    app = kind == "hsi" ? sync : transfer
    certificate = try kind == "hsi" ? .healthSync() : .healthAppTransfer()
  }

  /// Adds heart rates, the newest at the current time and each other a minute before the next.
  func addHeartRates(_ count: Int) {
    let now = Date().timeIntervalSince1970
    let samples = (0..<count).map { PhoneSample.heartRate(60 + Double($0 % 40), at: now - Double($0) * 60) }
    transfer.state.withLock { $0.add(samples) }
    sync.state.withLock { $0.add(samples) }
  }

  /// Serves and announces the app, on a free port unless `port` is given.
  func start(at port: Int = 0) async throws {
    let server = try await PhoneServer(app, certificate, host: host, port: port)
    let advertiser = try ServiceAdvertiser(name: name, port: UInt16(server.port))
    let announcing = Task { _ = try? await advertiser.run() }
    running.withLock { $0 = Running(server: server, announcing: announcing) }
    for await event in advertiser.events {
      if case .published = event { break }
    }
    say("ready \(server.port) \(certificate.fingerprint)")
  }

  func obey(_ words: [String]) async throws {
    switch words.first {
    case "payload":
      let port = running.withLock { $0.server?.port } ?? 1
      let said = words.count > 1 ? words[1] : host
      let lead = words.count > 2 ? Double(words[2]) ?? 300 : 300
      return say(payload(host: said, port: port, expiry: Date().timeIntervalSince1970 + lead))
    case "lock": setLocked(true)
    case "unlock": setLocked(false)
    case "sleep": setAsleep(true)
    case "wake": setAsleep(false)
    case "expire":
      transfer.expireCodes()
      sync.state.withLock { $0.isCodeOver = true }
    case "forget":
      transfer.state.withLock { $0.tokens = [] }
      sync.state.withLock { $0.tokens = [] }
    case "fail": transfer.state.withLock { $0.faults = words.count > 1 ? [words[1]: .status(500)] : [:] }
    case "add": addHeartRates(words.count > 1 ? Int(words[1]) ?? 1 : 1)
    case "start": return try await start()
    case "stop":
      let stopped = running.withLock { running in
        defer { running = Running() }
        return running
      }
      stopped.announcing?.cancel()
      await stopped.announcing?.value
      await stopped.server?.stop()
    default: break
    }
    say("done \(transfer.state.withLock(\.crash) ?? sync.state.withLock(\.crash) ?? "")")
  }

  private func payload(host: String, port: Int, expiry: Double) -> String {
    app is HealthSyncApp
      ? sync.payload(host: host, port: port, fingerprint: certificate.fingerprint, expiry: expiry)
      : transfer.payload(host: host, port: port, fingerprint: certificate.fingerprint, expiry: expiry)
  }

  private func setAsleep(_ isAsleep: Bool) {
    transfer.state.withLock { $0.isAsleep = isAsleep }
    sync.state.withLock { $0.isAsleep = isAsleep }
  }

  private func setLocked(_ isLocked: Bool) {
    transfer.state.withLock { $0.isLocked = isLocked }
    sync.state.withLock { $0.isLocked = isLocked }
  }

  private func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
