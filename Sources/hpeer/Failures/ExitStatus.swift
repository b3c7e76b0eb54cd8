import ArgumentParser
import Foundation
import HealthFormats
import HealthStore
import PeerClient
import PeerDiscovery
import PeerProtocol
import PeerServer
import PeerTrust
import Terminal

/// The exit codes that scripts may rely on; documented in `hpeer --help` and `docs/reference/exit-codes.md`.
enum ExitStatus: Int32 {
  case done = 0
  case other = 1
  case usage = 2
  case unreachable = 3
  case refused = 4
  case temporary = 5
  case wrongCode = 6
  case windowClosed = 7
  case certificateChanged = 8
  case notEqual = 9
  case storeUnusable = 10
  case storeLocked = 11
  case partial = 12
  case anotherPerson = 13
  case peerLocked = 14
  case badInput = 65
  case interrupted = 130
}

/// A failure whose message the command itself has written.
struct CommandFailure: Error, CustomStringConvertible {
  var status: ExitStatus
  var description: String
  /// Whether the object that was printed with `--json` already reports the failure.
  var isInReport: Bool

  init(_ status: ExitStatus, _ description: String, isInReport: Bool = false) {
    self.status = status
    self.description = description
    self.isInReport = isInReport
  }
}

extension ExitStatus {
  /// Reports an error in one sentence on standard error, and as an object on standard output if that is JSON, and
  /// ends the process.
  ///
  /// - Parameter command: The command that ran; `nil` if it was not known yet.
  static func exit(with error: any Error, of command: (any ParsableCommand.Type)? = nil) -> Never {
    if let error = error as? OutputError, error == .readerGone { Foundation.exit(0) }
    if case PromptError.interrupted(let signal)? = error as? PromptError {
      ErrorObject(.interrupted, code: 128 + signal, message: "Interrupted.").printIfWanted()
      Foundation.exit(128 + signal)
    }
    // The command has already reported everything.
    if let code = error as? ExitCode { Foundation.exit(code.rawValue) }
    let status = foreseen(error) ?? leaveToParser(error, of: command)
    Console.say("\(Console.style.red("hpeer:")) \(ErrorText.of(error))", .error)
    if (error as? CommandFailure)?.isInReport != true {
      ErrorObject(status, message: ErrorText.of(error)).printIfWanted()
    }
    Foundation.exit(status.rawValue)
  }

  /// Lets the parser print help, version and usage errors, and ends the process with our code for usage errors.
  /// Returns `other` for any other error, which was not foreseen.
  private static func leaveToParser(_ error: any Error, of command: (any ParsableCommand.Type)?) -> ExitStatus {
    let code = Hpeer.exitCode(for: error)
    if code.isSuccess { printAsked(Hpeer.fullMessage(for: error)) }
    guard code == .validationFailure else { return .other }
    Console.say(usageMessage(error, of: command), .error)
    ErrorObject(.usage, message: Hpeer.message(for: error)).printIfWanted()
    Foundation.exit(ExitStatus.usage.rawValue)
  }

  /// Returns the message of a usage error. The parser does not know which command has thrown an error while it ran.
  private static func usageMessage(_ error: any Error, of command: (any ParsableCommand.Type)?) -> String {
    guard let error = error as? ValidationError, let command else { return Hpeer.fullMessage(for: error) }
    let usage = Hpeer.usageString(for: command)
    let name = usage.prefix { !"[<".contains($0) }.trimmingCharacters(in: .whitespaces)
    return "Error: \(error.message)\nUsage: \(usage)\n  See '\(name) --help' for more information."
  }

  /// Prints help or the version, which are data like any other, and ends the process.
  private static func printAsked(_ text: String) -> Never {
    do {
      try Console.print(text)
    } catch {
      exit(with: error)
    }
    Foundation.exit(done.rawValue)
  }

  /// Returns the exit code for an error that the command itself has reported.
  static func of(_ error: any Error) -> ExitStatus { foreseen(error) ?? .other }

  private static func foreseen(_ error: any Error) -> ExitStatus? {
    switch error {
    case let error as CommandFailure: error.status
    case let error as any WordedError: error.status
    case let error as PeerError: status(of: error)
    case let error as StoreError: status(of: error)
    case let error as PeerRegistryError: status(of: error)
    case let error as PeerFinderError: status(of: error)
    case is DiscoveryError: .unreachable
    case is ImportError, is SampleFileError, is FHIRMapError: .badInput
    case is PairingPayloadError: .badInput
    case is PairingExchangeError: .refused
    case is PairingDeskError: .other
    case is IdentityError: .other
    case is PeerServerError: .other
    case let error as PromptError: error == .noTerminal ? .usage : .other
    case is ControlClient.NoServer: .unreachable
    case is ControlClient.Unexpected: .other
    case is OutputError: .other
    case is CancellationError: .interrupted
    default: nil
    }
  }

  private static func status(of error: PeerError) -> ExitStatus {
    switch error {
    case .pairing(.wrongCode), .codeRefused: .wrongCode
    case .typesUnread: .partial
    case .pairing(.windowClosed), .pairing(.windowLocked), .pairing(.sessionExpired): .windowClosed
    default:
      switch error.category {
      case .unreachable, .interrupted: .unreachable
      case .certificateChanged: .certificateChanged
      case .refused: .refused
      case .anotherPerson: .anotherPerson
      case .temporary: .temporary
      case .locked: .peerLocked
      case .failing, .malformed: .other
      }
    }
  }

  private static func status(of error: PeerFinderError) -> ExitStatus {
    switch error {
    case .nobody, .notFound, .appNotFound, .anotherPhone: .unreachable
    case .several, .sameName: .usage
    }
  }

  private static func status(of error: StoreError) -> ExitStatus {
    switch error {
    case .missing, .newerSchema, .corrupt: .storeUnusable
    case .locked: .storeLocked
    case .ownerChanged, .consumerChanged: .temporary
    case .gone: .storeUnusable
    case .beingReplaced, .inUse: .storeLocked
    case .cancelled: .interrupted
    case .diskFull, .lowSpace, .notPermitted, .openToOthers, .link, .unusableDirectory, .anchorOutOfRange, .other:
      .other
    }
  }

  private static func status(of error: PeerRegistryError) -> ExitStatus {
    switch error {
    case .newerSchema, .damaged: .storeUnusable
    case .busy: .storeLocked
    case .notFound: .refused
    case .ambiguous: .usage
    case .diskFull, .failed, .permissionsTooOpen: .other
    }
  }
}
