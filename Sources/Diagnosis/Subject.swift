import Foundation
import HealthModel
import OperatingSystem
import PeerProtocol

/// What is to be examined: one user's hpeer on this machine.
public struct Subject: Sendable {
  /// Where everything lives, an absolute path. Need not exist.
  public var home: String
  /// The Unix socket of a running server.
  public var socketPath: String
  /// The TCP port that a server listens on, or would.
  public var port: UInt16
  /// Whether the person named the port, which says that this machine serves.
  public var isPortChosen: Bool
  /// Whether to read the whole store.
  public var checksStore: Bool
  /// The paired machine that is to be reached; `nil` for all of them, which may as well be off.
  public var peer: PeerID?
  /// The command that examines the same as root.
  public var rootCommand: String
  /// What a machine may read, in words; the second says that it is numbers of whole days only.
  public var scopeWords: @Sendable (SampleFilter, _ onlyDaily: Bool) -> String = { scope, onlyDaily in
    scope == .everything && !onlyDaily ? "everything" : "a part of the record"
  }
  /// When the examination takes place, for what depends on the time: certificates, tokens, clocks.
  public var now: Date

  /// - Parameter checksStore: reading a large store takes minutes.
  public init(
    home: String, socketPath: String, port: UInt16, isPortChosen: Bool = false, checksStore: Bool = false,
    peer: PeerID? = nil, rootCommand: String = "sudo hpeer doctor", now: Date = Date()
  ) {
    self.home = home
    self.socketPath = socketPath
    self.port = port
    self.isPortChosen = isPortChosen
    self.checksStore = checksStore
    self.peer = peer
    self.rootCommand = rootCommand
    self.now = now
  }

  var homeURL: URL { URL(fileURLWithPath: home, isDirectory: true) }

  /// A machine that has only looked for others and never served: nobody needs to reach it.
  var onlyPulls: Bool {
    !isPortChosen && FileStatus(home + "/peers.sqlite") != nil && FileStatus(home + "/serve.lock") == nil
  }
}
