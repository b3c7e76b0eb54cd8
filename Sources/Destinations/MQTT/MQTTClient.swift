import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// A connection to an MQTT broker, which libmosquitto runs on a thread of its own.
///
/// Its methods may be called from any task; requests are processed in order. When the connection is lost, all waiting
/// calls throw, and the client cannot be used any more.
final class MQTTClient: Sendable {
  /// A request to the connection's thread.
  enum Command: Sendable {
    case publish([MQTTMessage], MQTTReply<Void>)
    /// A subscription, which is answered when the broker has accepted it.
    case subscribe(String, onMessage: @Sendable (MQTTMessage) -> Void, MQTTReply<Void>)
    case disconnect
  }

  /// The time limit for establishing a connection.
  private static let patience = Duration.seconds(20)

  private let inbox: MQTTInbox

  /// Connects to the broker. Throws ``DeliveryError``, or `CancellationError`.
  ///
  /// - Parameter patience: the time for which the broker may acknowledge nothing that it was sent.
  init(_ configuration: MQTTConfiguration, patience: Duration = .seconds(30)) async throws {
    let inbox = try MQTTInbox()
    let connected = MQTTReply<Void>()
    let thread = Thread { MQTTLoop(configuration, inbox, connected, patience: patience).run() }
    thread.name = "mqtt"
    thread.start()
    self.inbox = inbox
    let late = DeliveryError.temporary(reason: "\(configuration.host) does not answer")
    do {
      try await within(Self.patience, orThrow: late) { try await connected.value() }
    } catch {
      inbox.post(.disconnect)
      throw error
    }
  }

  deinit { inbox.post(.disconnect) }

  /// Whether the connection is open, as far as is known.
  var isConnected: Bool { inbox.isOpen }

  /// Publishes messages, and returns when all are acknowledged (or sent, with quality `atMostOnce`).
  ///
  /// - Throws: ``DeliveryError``. Some messages may have been published. Cancelling the task ends the connection.
  func publish(_ messages: [MQTTMessage]) async throws {
    if messages.isEmpty { return }
    let reply = MQTTReply<Void>()
    inbox.post(.publish(messages, reply)) { reply.answer(.failure($0)) }
    try await wait(reply)
  }

  /// Subscribes to a topic. The closure receives the retained message first, then each new message.
  func subscribe(_ topic: String, onMessage: @escaping @Sendable (MQTTMessage) -> Void) async throws {
    let reply = MQTTReply<Void>()
    inbox.post(.subscribe(topic, onMessage: onMessage, reply)) { reply.answer(.failure($0)) }
    try await wait(reply)
  }

  /// Ends the connection properly, so that the broker does not publish the will.
  func disconnect() { inbox.post(.disconnect) }

  private func wait(_ reply: MQTTReply<Void>) async throws {
    do {
      try await reply.value()
    } catch let error as CancellationError {
      inbox.post(.disconnect)
      throw error
    }
  }
}

/// The queue of requests that the thread has not taken yet.
final class MQTTInbox: Sendable {
  private struct State {
    var commands: [MQTTClient.Command] = []
    /// The reason why the thread accepts no more requests.
    var end: (any Error)?
  }

  private let state = Mutex(State())
  /// The reading end of a pipe, readable while there are requests.
  let descriptor: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw DeliveryError.temporary(reason: "there are too many open files") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, writing) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  var isOpen: Bool { state.withLock { $0.end == nil } }

  /// Adds a request and wakes the thread.
  ///
  /// - Parameter fail: called instead if the thread has ended.
  func post(_ command: MQTTClient.Command, orFail fail: (any Error) -> Void = { _ in }) {
    let end = state.withLock { state in
      if state.end == nil { state.commands.append(command) }
      return state.end
    }
    if let end { return fail(end) }
    var byte: UInt8 = 1
    // If the pipe is full, the thread wakes anyway.
    _ = write(writing, &byte, 1)
  }

  /// Returns the waiting requests and removes them. Called on the connection's thread.
  func take() -> [MQTTClient.Command] {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
    return state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
  }

  /// Closes the queue and returns the requests that were not taken. Called on the connection's thread.
  func end(_ error: any Error) -> [MQTTClient.Command] {
    state.withLock { state in
      state.end = state.end ?? error
      defer { state.commands = [] }
      return state.commands
    }
  }
}
