import Foundation
import Testing

/// A machine on the studio's side of the cable that sends arbitrary announcements and answers.
struct HostileHost {
  static let address = "10.77.0.66"
  private static let tool = Build.root + "/Tests/Tools/hostile-host"

  /// The content of an announcement. Fields that are nil are omitted.
  struct Announcement: Encodable {
    /// A label given as text or as bytes, which may be invalid UTF-8.
    enum Label: Encodable {
      case text(String)
      case bytes([UInt8])

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .bytes(let bytes): try container.encode(bytes)
        }
      }
    }

    var name: Label?
    var host = "liar"
    var addresses: [String]?
    var port: Int?
    var txt: [Label]?
    /// A complete packet in hexadecimal, which replaces all other fields.
    var raw: String?

    /// Returns an announcement that looks like any other.
    static func service(_ name: String, port: Int, txt: [String] = [], host: String = "liar") -> Announcement {
      Announcement(name: .text(name), host: host, port: port, txt: txt.map { .text($0) })
    }
  }

  private let hosts: TwoHosts

  init(beside hosts: TwoHosts) async throws {
    self.hosts = hosts
    let outcome = try await hosts.studio.sh("ip address add \(Self.address)/24 dev eth0")
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// Sends announcements, including the address of the host `liar`, until the command is ended.
  @discardableResult
  func announce(_ announcements: [Announcement]) async throws -> RunningCommand {
    let liar = Announcement(host: "liar", addresses: [Self.address])
    let input = String(decoding: try JSONEncoder().encode([liar] + announcements), as: UTF8.self)
    return try await start(["announce", "eth0", Self.address], input: input)
  }

  /// Answers requests at a port. The command's output is what it received.
  @discardableResult
  func listen(
    _ kind: String, port: Int, address: String = address, answers: [String: (Int, String)] = [:]
  ) async throws -> RunningCommand {
    let pairs = answers.mapValues { [$0.0, $0.1] as [Any] }
    let input = String(decoding: try JSONSerialization.data(withJSONObject: pairs), as: UTF8.self)
    return try await start(
      ["listen", address, String(port), kind] + (kind == "tls" ? try await certificate() : []), input: input)
  }

  private func certificate() async throws -> [String] {
    let (certificate, key) = (hosts.scratch.path + "/liar.pem", hosts.scratch.path + "/liar.key")
    let outcome = try await hosts.studio.sh(
      """
      test -s '\(certificate)' || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 \
        -subj /CN=studio -keyout '\(key)' -out '\(certificate)'
      """)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return [certificate, key]
  }

  private func start(_ arguments: [String], input: String) async throws -> RunningCommand {
    let command = try RunningCommand(hosts.studio.prefix + [Self.tool] + arguments, input: input)
    hosts.scratch.keep(command)
    try await eventually("the hostile host is ready: \(command.errors)") {
      command.output.hasPrefix("ready") ? true : nil
    }
    return command
  }
}
