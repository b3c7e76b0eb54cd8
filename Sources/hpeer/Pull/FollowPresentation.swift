import ArgumentParser
import Foundation
import HealthOperations
import HealthStore
import PeerClient
import PeerDiscovery
import PeerTrust
import Terminal

/// The messages while following: a line, or one JSON object on a line of its own, when something has come, and a line
/// when contact is lost or back.
struct FollowPresentation {
  let pull: PullOperation
  let json: Bool

  private struct Report: Encodable {
    var peer: String
    var id: String
    var added: Int
    var deleted: Int
    var unchanged: Int
    var bytes: Int
    var time = Date()
  }

  /// Follows these machines until it is interrupted, and reports what happens.
  func follow(_ servers: [(ServerRecord, [PeerEndpoint])]) async throws {
    let started = ContinuousClock.now
    let operation = FollowOperation(pull) { [json] in try Self.tell($1, of: $0, json: json) }
    guard case .ended(let result) = try await untilInterrupted({ try await operation.run(servers) }) else { return }
    if let failure = result.failure {
      // If there were several machines, the line about this one has been printed.
      throw servers.count > 1 ? ExitCode(ExitStatus.of(failure).rawValue) : failure
    }
    let whom = servers.count == 1 ? PlainText.escaped(servers[0].0.name) : HumanFormat.count(servers.count, "machine")
    Console.say(
      "Followed \(whom) for \(HumanFormat.duration(started.duration(to: .now))): "
        + "\(HumanFormat.count(result.total.added)) added, \(HumanFormat.count(result.total.deleted)) deleted.")
  }

  static func tell(_ event: FollowEvent, of server: ServerRecord, json: Bool) throws {
    func say(_ text: String, _ event: JournalFields.Event, _ priority: LinePriority = .information) {
      Console.say("\(PlainText.escaped(server.name)): \(text)", priority, JournalFields(event, peer: server.name))
    }
    switch event {
    case .came(let new): try print(new, of: server, json: json)
    case .upToDate: say("up to date; waiting for what happens there (Ctrl-C ends it).", .peerUpToDate)
    case .lost(let error, let wasReached):
      say(
        "\(wasReached ? "contact lost" : "no contact yet") (\(reason(error))); trying again until it is there.",
        .peerLost, .warning)
    case .noRoom:
      say("waiting for room on this machine's disk (`hpeer doctor`); it goes on by itself then.", .diskFull, .warning)
    case .back: say("back.", .peerBack)
    case .gaveUp(let error):
      say(ErrorText.of(error), .peerGivenUp, .warning)
      if json { try FailedPull.print(server, error) }
    }
  }

  private static func print(_ new: PullProgress, of server: ServerRecord, json: Bool) throws {
    if json {
      return try Console.print(
        json: Report(
          peer: server.name, id: server.id.hex, added: new.added, deleted: new.deleted, unchanged: new.unchanged,
          bytes: new.bytes))
    }
    try Console.print(
      "\(PlainText.escaped(server.name)): \(HumanFormat.count(new.added)) added, \(HumanFormat.count(new.deleted)) deleted, "
        + "\(HumanFormat.count(new.unchanged)) unchanged, \(HumanFormat.bytes(new.bytes))",
      JournalFields(.peerChanges, peer: server.name))
  }

  /// Returns the reason in a few words, without advice: hpeer already does what it advises.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case PeerError.unreachable(let endpoint, let reason):
      PlainText.escaped("nothing at \(endpoint): \(reason)", limit: 200)
    case PeerError.connectionLost: "the connection was closed"
    case PeerError.silent(_, let seconds): "it has said nothing for \(seconds) s"
    case PeerError.busy: "it is busy"
    case PeerFinderError.notFound, PeerFinderError.appNotFound, PeerFinderError.anotherPhone:
      "not found on this network"
    case PeerError.phoneLocked: "the phone is locked"
    case PeerError.machineLocked: "it is locked"
    case StoreError.locked: "another process keeps this store locked"
    default: ErrorText.sentence(error)
    }
  }
}
