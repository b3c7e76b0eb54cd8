import Foundation
import HealthModel
import OperatingSystem
import PeerProtocol

/// The subject of an examination: one user's hpeer on this machine.
public struct Subject: Sendable {
  /// The home directory, an absolute path. Need not exist.
  public var home: String
  /// The Unix socket of a running server.
  public var socketPath: String
  /// The TCP port of the server, running or not.
  public var port: UInt16
  /// Whether the user specified the port, which implies that this machine is a server.
  public var isPortChosen: Bool
  /// Whether to read the whole store.
  public var checksStore: Bool
  /// The paired machine that must be reachable; `nil` to try all of them, some of which may be switched off.
  public var peer: PeerID?
  /// The command that runs the same examination as root.
  public var rootCommand: String
  /// Returns the description of a scope. The second argument says whether it is limited to daily values.
  public var scopeWords: @Sendable (SampleFilter, _ onlyDaily: Bool) -> String = { scope, onlyDaily in
    scope == .everything && !onlyDaily ? "everything" : "a part of the record"
  }
  /// The time of the examination, used for certificates, tokens and clocks.
  public var now: Date

  /// Creates a subject.
  /// - Parameter checksStore: whether to read the whole store, which takes minutes for a large one.
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

  /// Whether this machine has only been a client and never a server, so that no other machine needs to reach it.
  var onlyPulls: Bool {
    !isPortChosen && FileStatus(home + "/peers.sqlite") != nil && FileStatus(home + "/serve.lock") == nil
  }
}
