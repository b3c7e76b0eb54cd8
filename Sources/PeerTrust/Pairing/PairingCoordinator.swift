import Foundation
import HealthModel
import OperatingSystem
import PeerProtocol

/// The server's side of pairing: it decides which attempts are allowed, how many and for how long.
///
/// A person at the server opens a window for five minutes. The window has one code at a time and **five failed
/// attempts in total**, from all callers together. Each attempt in flight reserves one of them, so parallel attempts
/// cannot exceed the budget. A failure replaces the code; the fifth locks the desk, and the lock survives a restart.
/// A success closes the window. Each caller has at most one attempt in flight, which may be displaced after some
/// seconds if another caller needs its place.
///
/// ```swift
/// func open(_ home: URL) async throws -> OpenWindow {
///   let identity = try await IdentityStore.loadOrCreate(in: home)
///   let registry = try await PeerRegistry.open(in: home)
///   let desk = try await PairingCoordinator(identity: identity, directory: home) { client in
///     try await registry.addClient(client)
///   }
///   return try await desk.open()  // Show its code, and nowhere but on the local screen.
/// }
/// ```
///
/// Time limits take effect at the next call and, at the latest, when the window's own timer fires.
public actor PairingCoordinator {
  /// The limits on time and attempts. The defaults are those of `hpeer serve`.
  public struct Limits: Hashable, Sendable {
    /// The time for which a window stays open, in seconds.
    public var windowLifetime: TimeInterval = 300
    /// The time limit from a client's start to its finish, in seconds.
    public var sessionLifetime: TimeInterval = 30
    /// The time for which a repeated finish gets the same answer again, in seconds.
    public var receiptLifetime: TimeInterval = 600
    /// The time for which a token is valid after the pairing and after each use, in seconds.
    public var tokenLifetime = PairedClient.defaultTokenLifetime
    /// The number of failed attempts per window; the last one locks the desk.
    public var failureBudget = 5
    /// The maximum number of attempts in flight, from all callers together.
    public var maximumSessions = 4
    /// The time for which a new attempt cannot be displaced by another caller, in seconds. Far longer than an
    /// exchange takes.
    public var sessionProtection: TimeInterval = 5

    /// Creates the limits of `hpeer serve`.
    public init() {}
  }

  /// The state of the desk, for the server's owner. Contains no code.
  public struct Status: Hashable, Sendable {
    /// The state of the pairing window.
    public enum Window: Hashable, Sendable {
      /// `closed`: no window was opened, or it has ended. `locked`: there were too many failures; the lock survives a
      /// restart.
      case closed, locked
      /// Open until the code is used, the time is over or no attempt is left.
      case open(expiresAt: Date, attemptsLeft: Int)
    }

    /// The window's state at the time of the call: an expired window is closed first.
    public let window: Window
    /// The number of attempts in flight, each of which reserves one of the remaining attempts.
    public let liveSessions: Int
    /// The number of failed attempts in the open window, or in the one that was open when the process last ended.
    public let failures: Int
    /// The scope granted to the client that pairs in the open window. If nil, a known client keeps its scope and a
    /// new client may read everything.
    public var scope: SampleFilter?
    /// The opener of the open window; `nil` while none is open.
    public var opener: WindowOpener?
  }

  /// A function that stores a client before the client is told that it is paired. If it throws, the client may send
  /// the same message again.
  public typealias Persist = @Sendable (PairedClient) async throws -> Void

  let serverID: PeerID
  let fingerprint: Fingerprint
  let limits: Limits
  let persist: Persist
  let clock: @Sendable () -> Date
  /// The clock of the window's own timer.
  let timerClock: any Clock<Duration>
  let report: @Sendable (PairingEvent) -> Void
  let stateFile: PairingStateFile
  let derivation: PasswordScalar.Derivation

  var state: PairingState
  var window: PairingWindow?
  var sessions: [[UInt8]: PairingAttempt] = [:]
  /// The sessions that were displaced, the newest last.
  var displaced: [(id: [UInt8], session: PairingAttempt)] = []
  /// The time of the last report that a caller was kept out.
  var lastKeptOut: Date?
  var receipts: [[UInt8]: Receipt] = [:]
  var settlement: Settlement?
  private var windowCount = 0
  var timer: Task<Void, Never>?

  /// The answer to a successful finish, kept for a client that did not receive it.
  struct Receipt: Sendable {
    let cA: [UInt8]
    let response: PairFinishResponse
    let storedAt: Date
  }

  /// A client with a correct proof that is being stored.
  struct Settlement {
    /// The session, or nil for a plain pairing, which has none.
    let session: [UInt8]?
    let cA: [UInt8]
    let task: Task<Result<PairFinishResponse, PairRejection>, Never>?
  }

  /// Creates a pairing desk.
  ///
  /// - Parameters:
  ///   - identity: this machine's identity; its certificate must be the one that the server uses.
  ///   - directory: the directory of `pairing.json`, which stores the lock; created (0700) if it is missing.
  ///   - clock: returns the current time; for tests.
  ///   - events: called on the desk's executor, so it must return at once.
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

  /// Opens a window with a full budget, even if the desk is locked. An open window is replaced and its attempts end.
  ///
  /// Only call this for an action at the server itself: at a terminal, or through a socket that only its owner can
  /// reach.
  /// - Parameter scope: the scope of the client that pairs. If nil, a client known by its certificate keeps its
  ///   scope, and a new client may read everything.
  /// - Throws: an error if the count of attempts cannot be stored; the desk is then as before, without a window.
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
  /// - Parameter number: the window to close; nil for any.
  /// - Returns: whether a window was open.
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

  /// Returns the state of the desk. Uses up no attempt.
  public func status() -> Status {
    reap()
    let open = window.map { Status.Window.open(expiresAt: $0.expiresAt, attemptsLeft: attemptsLeft) }
    return Status(
      window: open ?? (state.isLocked ? .locked : .closed), liveSessions: sessions.count, failures: state.failures,
      scope: window?.scope, opener: window?.opener)
  }

  /// Returns the answer to `GET /pair/v1/hello`. Uses up no attempt.
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

/// An error that keeps the pairing desk from working.
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
