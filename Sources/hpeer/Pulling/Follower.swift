import ArgumentParser
import Foundation
import HealthStore
import PeerClient
import PeerTrust
import Terminal

/// Follows servers until somebody ends it, and tells about it.
struct Follower {
  let puller: Puller

  /// Follows all of them at once, but lets them begin to fill an empty store one after the other. One that has to be given
  /// up is named and does not end the others; the first of these failures is thrown when none is left.
  func follow(_ servers: [(ServerRecord, [PeerEndpoint])]) async throws {
    let started = ContinuousClock.now
    let firstTurn = FirstTurn()
    let contacts = servers.map {
      FollowedPeer(server: $0.0, puller: puller, firstTurn: firstTurn, showsBar: servers.count == 1)
    }
    let endpoints = servers.map(\.1)
    let failure = try await untilInterrupted {
      try await withThrowingTaskGroup(of: (any Error).self) { group in
        for (contact, endpoints) in zip(contacts, endpoints) {
          group.addTask {
            do {
              try await contact.follow(endpoints)
              return CancellationError()
            } catch let error as OutputError {
              // No fault of that machine's, and nobody reads what the others bring.
              throw error
            } catch {
              if servers.count > 1, !(error is CancellationError) {
                contact.say(ErrorText.of(error))
                if puller.json { try FailedPull.print(contact.server, error) }
              }
              return error
            }
          }
        }
        var first: (any Error)?
        for try await error in group { first = first ?? error }
        return first ?? CancellationError()
      }
    }
    if let failure, !(failure is CancellationError) {
      // Of one among several, its line has been written.
      throw servers.count > 1 ? ExitCode(ExitStatus.of(failure).rawValue) : failure
    }
    var total = PullProgress()
    for contact in contacts { total += contact.total }
    let whom = servers.count == 1 ? PlainText.escaped(servers[0].0.name) : HumanFormat.count(servers.count, "machine")
    Console.say(
      "Followed \(whom) for \(HumanFormat.duration(started.duration(to: .now))): "
        + "\(HumanFormat.count(total.added)) added, \(HumanFormat.count(total.deleted)) deleted.")
  }
}
