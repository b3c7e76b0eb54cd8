import HealthStore
import OperatingSystem
import PeerClient
import PeerTrust

/// The events while a server is followed.
public enum FollowEvent: Sendable {
  /// Changes were pulled.
  case came(PullProgress)
  /// The store is up to date with the server for the first time.
  case upToDate
  /// The connection was lost or could not be made yet. It is retried until it succeeds.
  case lost(any Error, wasReached: Bool)
  /// This machine's disk is full or nearly full. Pulling continues by itself when there is room.
  case noRoom(any Error)
  /// The connection is back, or the disk has room again.
  case back
  /// A machine is not followed any more. A command that follows one only ends with the error instead.
  case gaveUp(any Error)
}

/// The outcome of a ``FollowOperation``.
public struct FollowResult: Sendable {
  /// The sum of the changes pulled from all servers.
  public var total = PullProgress()
  /// The error that ended following the first server that was given up; `nil` if there was none.
  public var failure: (any Error)?
}

/// An operation that keeps a store up to date with servers until its task is cancelled, with audit events.
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
  /// A function that is called with events: one after the other for each server, concurrently for several servers. An
  /// error that it throws ends the whole operation.
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

  /// Follows all servers at once. Into an empty store, their first pulls begin one after the other. A server that is
  /// given up does not end the others. Returns when the task is cancelled or no server is left; throws only listener
  /// errors.
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

  /// Follows one server and returns the error that ended it.
  private func follow(
    _ contact: FollowedPeer, _ endpoints: [PeerEndpoint], isAlone: Bool
  ) async throws -> any Error {
    var backOff = BackOff(first: .seconds(10), longest: .seconds(60))
    while true {
      do {
        try await contact.follow(endpoints)
        return CancellationError()
      } catch let failure as ListenerFailure {
        // This is not the server's fault, and the listener no longer hears of the others either.
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

/// A wrapper for an error that the listener threw.
struct ListenerFailure: Error {
  let error: any Error
}
