import Foundation
import Glibc
import OperatingSystem
import Synchronization

/// A connection to an MQTT broker, which libmosquitto drives on a thread of its own.
///
/// Its methods may be called from any task; what they ask for is done in order. When the connection is lost, all that waits
/// throws, and the client is of no more use.
final class MQTTClient: Sendable {
  /// What the thread is asked to do.
  enum Command: Sendable {
    case publish([MQTTMessage], MQTTReply<Void>)
    /// Answered when the broker has taken the subscription.
    case subscribe(String, onMessage: @Sendable (MQTTMessage) -> Void, MQTTReply<Void>)
    case disconnect
  }

  /// What a connection waits for at most before it is made.
  private static let patience = Duration.seconds(20)

  private let inbox: MQTTInbox

  /// Connects. Throws ``DeliveryError``, or `CancellationError`.
  ///
  /// - Parameter patience: how long the broker may acknowledge nothing of what it was sent.
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

  /// Whether it can still be asked for something, as far as is known.
  var isConnected: Bool { inbox.isOpen }

  /// Returns when the broker has acknowledged every one of them; those of `atMostOnce` when they are sent.
  ///
  /// - Throws: ``DeliveryError``. Some of them may have been published. Cancelled, the connection ends.
  func publish(_ messages: [MQTTMessage]) async throws {
    if messages.isEmpty { return }
    let reply = MQTTReply<Void>()
    inbox.post(.publish(messages, reply)) { reply.answer(.failure($0)) }
    try await wait(reply)
  }

  /// Has what arrives at a topic from now on given to a function, first what is retained there.
  func subscribe(_ topic: String, onMessage: @escaping @Sendable (MQTTMessage) -> Void) async throws {
    let reply = MQTTReply<Void>()
    inbox.post(.subscribe(topic, onMessage: onMessage, reply)) { reply.answer(.failure($0)) }
    try await wait(reply)
  }

  /// Says goodbye, so that the broker does not publish the will.
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

/// What tasks have asked of the thread and it has not taken yet.
final class MQTTInbox: Sendable {
  private struct State {
    var commands: [MQTTClient.Command] = []
    /// Why the thread takes no more.
    var end: (any Error)?
  }

  private let state = Mutex(State())
  /// The end of a pipe that can be read while there are commands.
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

  /// - Parameter fail: called instead where the thread has ended.
  func post(_ command: MQTTClient.Command, orFail fail: (any Error) -> Void = { _ in }) {
    let end = state.withLock { state in
      if state.end == nil { state.commands.append(command) }
      return state.end
    }
    if let end { return fail(end) }
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(writing, &byte, 1)
  }

  /// Of the thread: what there is to do.
  func take() -> [MQTTClient.Command] {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
    return state.withLock { state in
      defer { state.commands = [] }
      return state.commands
    }
  }

  /// Of the thread: it takes no more. Returns what it has not taken.
  func end(_ error: any Error) -> [MQTTClient.Command] {
    state.withLock { state in
      state.end = state.end ?? error
      defer { state.commands = [] }
      return state.commands
    }
  }
}
