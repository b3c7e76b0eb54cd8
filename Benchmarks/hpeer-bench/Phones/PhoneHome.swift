import Foundation
import PeerProtocol
import PeerTrust
import PhoneApps

/// A home that is paired with a simulated phone on this machine.
struct PhoneHome {
  private let bench: Bench
  private let home: String
  private let server: PhoneServer
  /// A closure that returns the number of requests that the app has read.
  private let requests: @Sendable () -> Int
  private static let name = "phone"

  /// - Parameters:
  ///   - token: A token that the app accepts.
  ///   - requests: A closure that returns the number of requests that the app has read.
  init(
    _ bench: Bench, _ app: any PhoneApp, _ certificate: PhoneCertificate, dialect: String, token: String,
    requests: @escaping @Sendable () -> Int
  ) async throws {
    guard let fingerprint = Fingerprint(hex: certificate.fingerprint), let credential = BearerCredential(text: token)
    else { throw BenchFailure("The stand-in of a phone has no certificate.") }
    (self.bench, self.requests) = (bench, requests)
    home = bench.workspace.fresh("phone")
    server = try await PhoneServer(app, certificate)
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let registry = try await PeerRegistry.open(in: URL(fileURLWithPath: home))
    try await registry.addServer(
      ServerRecord(
        id: PeerID(certificate: fingerprint), name: Self.name, fingerprint: fingerprint, credential: credential,
        dialect: dialect, host: "127.0.0.1", port: UInt16(server.port)))
  }

  /// Pulls, and adds the measurements to a row.
  ///
  /// - Parameters:
  ///   - what: The name of the pull.
  ///   - added: The number of samples that must be added.
  ///   - bound: The maximum number of requests.
  /// - Throws: ``BenchFailure`` if samples are missing or there are too many requests.
  func pull(_ what: String, adding added: Int, within bound: Double, _ row: inout Row) async throws {
    Log.say("  \(what)")
    bench.workspace.settle()
    let before = requests()
    let outcome = try await bench.program.run(
      ["pull", Self.name, "--merge-person", "--json"], home: home, watchesMemory: true, in: bench.workspace)
    let (report, count) = (try outcome.json(), requests() - before)
    guard report["added"] as? Int == added else {
      throw BenchFailure("\(what): \(report["added"] ?? "nothing") of \(added) samples came.")
    }
    row.add("\(what): requests", Double(count), .count, goal: .atMost(bound))
    if let bytes = report["bytes"] as? Int { row.add("\(what): bytes", Double(bytes), .bytes) }
    row.add("\(what): time", outcome.seconds, .seconds)
    row.add("\(what): memory", Double(outcome.peak) / 1_048_576, .mebibytes, goal: .atMost(96))
    guard Double(count) <= bound else {
      throw BenchFailure("\(what) took \(count) requests, and may take \(Int(bound)).")
    }
  }

  func end() async {
    await server.stop()
    bench.workspace.remove(home)
  }
}
