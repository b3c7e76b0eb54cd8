import Foundation
import HealthModel
import OperatingSystem
import PeerProtocol

/// The server's side of pairing: who may try, how often, and until when.
///
/// A person at the server opens a window for five minutes. It has one code at a time and **five failed attempts in
/// all**, whoever makes them; each attempt in flight reserves one, so a crowd cannot try more. A failure replaces the
/// code, the fifth locks the desk, and the lock outlives the process. A success closes the window. A caller holds one
/// place at a time, and that for some seconds where another needs it.
///
/// ```swift
/// func open(_ home: URL) async throws -> OpenWindow {
///   let identity = try await IdentityStore.loadOrCreate(in: home)
///   let registry = try await PeerRegistry.open(in: home)
///   let desk = try await PairingDesk(identity: identity, directory: home) { client in
///     try await registry.addClient(client)
///   }
///   return try await desk.open()  // Show its code, and nowhere but on the local screen.
/// }
/// ```
///
/// Limits in time take effect at the next call and, at the latest, when the window's own timer fires.
public actor PairingDesk {
  /// How long and how often anything may be tried. Those of `hpeer serve` are the defaults.
  public struct Limits: Hashable, Sendable {
    /// Seconds for which a window stays open.
    public var windowLifetime: TimeInterval = 300
    /// Seconds from a client's start to its finish.
    public var sessionLifetime: TimeInterval = 30
    /// Seconds in which a client that did not hear the answer to its finish gets it again.
    public var receiptLifetime: TimeInterval = 600
    /// Seconds for which a token is valid after the pairing, and again after each use.
    public var tokenLifetime = PairedClient.defaultTokenLifetime
    /// Failed attempts of one window; the last locks the desk.
    public var failureBudget = 5
    /// Attempts in flight at one time, of all callers together.
    public var maximumSessions = 4
    /// How long an attempt that has begun keeps its place although another caller needs it: seconds, far more than an
    /// exchange takes.
    public var sessionProtection: TimeInterval = 5

    /// The limits of `hpeer serve`.
    public init() {}
  }

  /// The state of the desk, for the server's owner. Holds no code.
  public struct Status: Hashable, Sendable {
    /// Whether a code is accepted.
    public enum Window: Hashable, Sendable {
      /// `closed`: nobody has opened one, or it has ended. `locked`: too many failures; the lock outlives the process.
      case closed, locked
      /// Until the code is used, the time is over or no attempt is left.
      case open(expiresAt: Date, attemptsLeft: Int)
    }

    /// Right at the time of asking: what time has ended is closed first.
    public let window: Window
    /// Attempts in flight, each of which reserves one of those that are left.
    public let liveSessions: Int
    /// Failed attempts in the window that is open, or was when the process last ended.
    public let failures: Int
    /// What the client that pairs in the open window may read; nil for what it may read already, or everything.
    public var scope: SampleFilter?
    /// Who opened the open window; `nil` while none is open.
    public var opener: WindowOpener?
  }

  /// Stores the client before it is told that it is paired. When it throws, the client may try the same message again.
  public typealias Persist = @Sendable (PairedClient) async throws -> Void

  let serverID: PeerID
  let fingerprint: Fingerprint
  let limits: Limits
  let persist: Persist
  let clock: @Sendable () -> Date
  /// By which a window's own timer fires.
  let timerClock: any Clock<Duration>
  let report: @Sendable (PairingEvent) -> Void
  let stateFile: PairingStateFile
  let derivation: PasswordScalar.Derivation

  var state: PairingState
  var window: PairingWindow?
  var sessions: [[UInt8]: PairingAttempt] = [:]
  /// Sessions that had to make room, the newest last.
  var displaced: [(id: [UInt8], session: PairingAttempt)] = []
  /// When it was last reported that somebody was kept out.
  var lastKeptOut: Date?
  var receipts: [[UInt8]: Receipt] = [:]
  var settlement: Settlement?
  private var windowCount = 0
  var timer: Task<Void, Never>?

  /// The answer to a successful finish, kept for a client that did not hear it.
  struct Receipt: Sendable {
    let cA: [UInt8]
    let response: PairFinishResponse
    let storedAt: Date
  }

  /// A proved client that is being stored.
  struct Settlement {
    /// Nil for a plain pairing, which has no session.
    let session: [UInt8]?
    let cA: [UInt8]
    let task: Task<Result<PairFinishResponse, PairRejection>, Never>?
  }

  /// - Parameters:
  ///   - identity: of this machine; its certificate must be the one that it serves with.
  ///   - directory: where `pairing.json` keeps the lock; made (0700) if it is missing.
  ///   - clock: the time; for tests.
  ///   - events: called on the desk, so it must return at once.
  public init(
    identity: PeerIdentity, directory: URL, limits: Limits = Limits(),
    clock: @escaping @Sendable () -> Date = { Date() },
    events: @escaping @Sendable (PairingEvent) -> Void = { _ in }, persist: @escaping Persist
  ) async throws(PairingDeskError) {
    try await self.init(
      serverID: identity.id, fingerprint: identity.fingerprint, directory: directory, limits: limits, clock: clock,
      events: events, persist: persist)
  }

  init(
    serverID: PeerID, fingerprint: Fingerprint, directory: URL, limits: Limits = Limits(),
    clock: @escaping @Sendable () -> Date = { Date() }, timerClock: any Clock<Duration> = ContinuousClock(),
    events: @escaping @Sendable (PairingEvent) -> Void = { _ in },
    derivation: @escaping PasswordScalar.Derivation = PasswordScalar.derive, persist: @escaping Persist
  ) async throws(PairingDeskError) {
    self.serverID = serverID
    self.fingerprint = fingerprint
    self.limits = limits
    self.persist = persist
    self.clock = clock
    self.timerClock = timerClock
    report = events
    self.derivation = derivation
    let stateFile = PairingStateFile(directory: directory)
    self.stateFile = stateFile
    state = try await onThread { (_) throws(PairingDeskError) -> PairingState in
      do throws(SystemError) {
        try PrivateFile.makeDirectory(directory.path)
        return try stateFile.read()
      } catch {
        throw .stateNotReadable(path: error.path, reason: error.reason)
      }
    }
  }

  deinit { timer?.cancel() }

  // MARK: The window

  /// Opens a window with a full budget, also when the desk is locked. An open window is replaced, with all its
  /// attempts.
  ///
  /// Call it for an act at the server itself only: a terminal, or a socket that only its owner can reach.
  /// - Parameter scope: what the client that pairs may read; nil for what a client with the same certificate may read
  ///   already, or everything.
  /// - Throws: if the count of attempts cannot be stored; the desk is then as before, less its window.
  public func open(
    scope: SampleFilter? = nil, by opener: WindowOpener = .terminal
  ) async throws(PairingDeskError) -> OpenWindow {
    let now = clock()
    let previous = state
    let secret = PairingWindow.Secret(serverID: serverID, derivation: derivation)
    let expiresAt = now + limits.windowLifetime
    windowCount += 1
    let number = windowCount
    endSessions()
    state = PairingState()
    window = PairingWindow(
      number: number, openedAt: now, expiresAt: expiresAt, scope: scope, opener: opener, secret: secret)
    if let reason = await saveState() {
      if window?.number == number {
        window = nil
        state = previous
      }
      throw .stateNotWritable(path: stateFile.path, reason: reason)
    }
    startTimer(number)
    report(.windowOpened(expiresAt: expiresAt))
    return OpenWindow(number: number, code: secret.code, salt: secret.salt, expiresAt: expiresAt)
  }

  /// Closes the window and ends its attempts. A locked desk stays locked.
  ///
  /// - Parameter number: the only window that is meant; nil for any.
  /// - Returns: whether one was open.
  @discardableResult
  public func close(_ number: Int? = nil, because reason: PairingEvent.CloseReason = .closedLocally) -> Bool {
    reap()
    guard let window, number == nil || number == window.number else { return false }
    closeWindow(reason)
    return true
  }

  /// The code to show on the local screen; nil while no window is open.
  public var currentCode: PairingCode? {
    reap()
    return window?.secret.code
  }

  /// Uses nothing up; holds no code.
  public func status() -> Status {
    reap()
    let open = window.map { Status.Window.open(expiresAt: $0.expiresAt, attemptsLeft: attemptsLeft) }
    return Status(
      window: open ?? (state.isLocked ? .locked : .closed), liveSessions: sessions.count, failures: state.failures,
      scope: window?.scope, opener: window?.opener)
  }

  /// The answer to `GET /pair/v1/hello`. Uses nothing up.
  public func hello() -> PairHello {
    reap()
    do {
      return try PairHello(
        versions: [PairingProtocol.version], suite: PairingProtocol.suite, serverID: serverID,
        salt: window?.secret.salt, windowLocked: state.isLocked)
    } catch {
      preconditionFailure("constants and 16 bytes of salt: \(error)")
    }
  }
}

/// Why the pairing desk cannot work.
public enum PairingDeskError: Error, Hashable, Sendable {
  /// The file that keeps the count of failed attempts cannot be read.
  case stateNotReadable(path: String, reason: String)
  /// The file that keeps the count of failed attempts cannot be written, so no window opens.
  case stateNotWritable(path: String, reason: String)
}

extension PairingDeskError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stateNotReadable(let path, let reason):
      "The pairing state \(path) cannot be read (\(reason)): make it readable for the user who runs hpeer."
    case .stateNotWritable(let path, let reason):
      "Pairing stays closed because \(path) cannot be written (\(reason)): free the disk or correct the permissions."
    }
  }
}
