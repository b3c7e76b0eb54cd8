import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// What happens while a machine is followed.
public enum FollowEvent: Sendable {
  /// Changes have come.
  case came(PullProgress)
  /// For the first time, there is nothing more to come for now.
  case upToDate
  /// Contact was lost, or could not be made yet. It is tried until it succeeds.
  case lost(any Error, wasReached: Bool)
  /// This machine's disk is full, or nearly: it goes on by itself when there is room.
  case noRoom(any Error)
  /// Contact is there again, or room.
  case back
  /// A machine is not followed any more. A command that follows one only ends with the error instead.
  case gaveUp(any Error)
}

/// What following did until it ended.
public struct FollowResult: Sendable {
  /// Of all machines.
  public var total = PullProgress()
  /// Why the first machine was given up, if one was.
  public var failure: (any Error)?
}

/// Keeps a store up to date with machines until its task is cancelled, and writes that down.
///
/// ```swift
/// func follow(_ server: ServerRecord, with pull: PullOperation) async throws {
///   let operation = FollowOperation(pull) { server, event in
///     if case .came(let news) = event { print(news.added, "samples from", server.name) }
///   }
///   let result = try await operation.run([(server, PeerFinder.hint(of: server))])
///   print(result.total.changes, "changes in all")
/// }
/// ```
public struct FollowOperation: Sendable {
  /// Is told of each machine one thing after the other, and of several machines at once. What it throws ends them all.
  public typealias Listener = @Sendable (ServerRecord, FollowEvent) async throws -> Void

  private let pull: PullOperation
  private let tell: Listener
  private let waitsForRoom: Bool
  private let clock: any Clock<Duration>

  /// - Parameters:
  ///   - pull: how each of them is pulled from.
  ///   - waitsForRoom: whether this is part of a service: a full disk is waited out, and each machine that is given up is reported.
  ///   - clock: by which that passes.
  ///   - tell: what it throws ends this.
  public init(
    _ pull: PullOperation, waitsForRoom: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    tell: @escaping Listener
  ) {
    (self.pull, self.waitsForRoom, self.clock, self.tell) = (pull, waitsForRoom, clock, tell)
  }

  /// Follows all of them at once, but lets them begin to fill an empty store one after the other. One that has to be given
  /// up does not end the others. Returns when the task is cancelled, or none is left; throws only what the listener does.
  public func run(_ servers: [(ServerRecord, [PeerEndpoint])]) async throws -> FollowResult {
    let firstPullQueue = FirstPullQueue()
    let isAlone = servers.count == 1
    let contacts = servers.map { server, endpoints in
      (
        FollowedPeer(server: server, pull: pull, tell: tell, firstPullQueue: firstPullQueue, showsProgress: isAlone),
        endpoints
      )
    }
    do {
      var result = FollowResult()
      result.failure = try await withThrowingTaskGroup(of: (any Error).self) { group in
        for (contact, endpoints) in contacts {
          group.addTask { try await follow(contact, endpoints, isAlone: isAlone) }
        }
        var first: (any Error)?
        for try await error in group { first = first ?? error }
        return first is CancellationError ? nil : first
      }
      for (contact, _) in contacts { result.total += contact.total }
      return result
    } catch let failure as ListenerFailure {
      throw failure.error
    }
  }

  /// Returns why it has ended.
  private func follow(
    _ contact: FollowedPeer, _ endpoints: [PeerEndpoint], isAlone: Bool
  ) async throws -> any Error {
    var backOff = BackOff(first: .seconds(10), longest: .seconds(60))
    while true {
      do {
        try await contact.follow(endpoints)
        return CancellationError()
      } catch let failure as ListenerFailure {
        // No fault of that machine's, and nobody hears what the others bring.
        throw failure
      } catch let error as StoreError where waitsForRoom && error.isOutOfRoom && !Task.isCancelled {
        try await contact.noteNoRoom(error)
        guard (try? await clock.sleep(for: backOff.next())) != nil else { return CancellationError() }
      } catch {
        if Task.isCancelled { return CancellationError() }
        // Of a command that follows one machine, it is the error that the command ends with.
        if !isAlone || waitsForRoom { try await contact.report(.gaveUp(error)) }
        return error
      }
    }
  }
}

/// What a listener threw.
struct ListenerFailure: Error {
  let error: any Error
}
