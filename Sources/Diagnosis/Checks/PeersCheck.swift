import Foundation
import OperatingSystem
import PeerClient
import PeerTrust

/// A check of the paired machines for tokens that expire soon or have expired, or that are not bound to a
/// certificate.
struct PeersCheck: Check {
  let id = "peers"
  let title = "the paired machines"
  var subject: Subject
  var inspect: @Sendable () async throws -> PeerRegistry.Inspection?

  init(subject: Subject) {
    self.subject = subject
    inspect = { try await PeerRegistry.inspect(in: subject.homeURL) }
  }

  func findings() async -> [Finding] {
    let peers: PeerRegistry.Inspection?
    do {
      peers = try await inspect()
    } catch let error as PeerRegistryError {
      return [finding(for: error)]
    } catch {
      return [Finding(.warning, "peers.unknown", "The list of paired machines could not be read (\(error))")]
    }
    guard let peers else { return [Finding(.ok, "peers.none", "No machine is paired with this one yet")] }
    let clients = peers.clients.filter { $0.revoked == nil }
    let findings = clients.compactMap(judge) + peers.servers.compactMap(judge) + unbound(clients)
    if findings.contains(where: { $0.severity != .note }) { return findings }
    let count = clients.count + peers.servers.count
    let summary =
      count == 0
      ? Finding(.ok, "peers.none", "No machine is paired with this one yet")
      : Finding(.ok, "peers.ok", "Paired machines: \(clients.count) may read here, \(peers.servers.count) pulled from")
    return [summary] + findings
  }

  private func judge(_ client: ClientRecord) -> Finding? {
    let now = subject.now
    if client.expires <= now {
      return Finding(
        .warning, "peers.client.expired",
        "\(client.name) may no longer read here: it was away too long, since \(Self.text(client.expires))",
        remedy:
          "pair again: `hpeer pair --wait` here, then `hpeer pair` there; or forget it: hpeer revoke \(client.id.short)"
      )
    }
    guard client.ending(at: now) != nil else { return nil }
    return Finding(
      .warning, "peers.client.ending", "\(client.name) may read here until \(Self.text(client.expires)) only",
      remedy: "run `hpeer pull` on it before then: every pull makes it \(Int(client.tokenLifetime / 86_400)) days again"
    )
  }

  private func judge(_ server: ServerRecord) -> Finding? {
    guard let expires = server.expires else { return nil }
    let now = subject.now
    if expires <= now {
      return Finding(
        .warning, "peers.server.expired", "The pairing with \(server.name) ended on \(Self.text(expires))",
        remedy: "hpeer pair \(ShellWord.quoted(server.name))")
    }
    guard server.ending(at: now) != nil else { return nil }
    return Finding(
      .warning, "peers.server.ending", "The pairing with \(server.name) ends on \(Self.text(expires))",
      remedy: "hpeer \(server.traits.renewsToken ? "pull" : "pair") \(ShellWord.quoted(server.name))")
  }

  private func unbound(_ clients: [ClientRecord]) -> [Finding] {
    let names = clients.filter { !$0.isBound && $0.expires > subject.now }.map(\.name)
    guard !names.isEmpty else { return [] }
    return [
      Finding(
        .note, "peers.unbound",
        "Tokens that are not bound to a certificate, so that a stolen copy would work: \(names.joined(separator: ", "))",
        remedy: "take one away when its machine is lost: hpeer revoke NAME")
    ]
  }

  private func finding(for error: PeerRegistryError) -> Finding {
    switch error {
    case .newerSchema(let path):
      Finding(
        .blocking, "peers.newer", "\(path) was written by a newer hpeer", remedy: "update hpeer on this machine")
    case .damaged(let path, let reason):
      Finding(
        .blocking, "peers.damaged", "\(path) is damaged (\(reason))",
        remedy: "restore it from a backup, or move it away and pair every machine again")
    case .busy(let path):
      Finding(.note, "peers.busy", "\(path) is in use by another hpeer, and was not looked at")
    default:
      Finding(
        .blocking, "peers.unreadable", "The list of paired machines cannot be read: \(error)",
        remedy: "if it is yours: sudo chown -R \(geteuid()) \(ShellWord.quoted(subject.home))")
    }
  }

  private static func text(_ date: Date) -> String { ClockCheck.day(date) }
}
