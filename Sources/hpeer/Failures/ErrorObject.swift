import Foundation
import PeerClient
import Synchronization
import Terminal

/// An error for programs: docs/reference/json.md.
struct ErrorObject: Encodable {
  /// The exit code.
  var code: Int32
  /// The name of the exit code, such as `unreachable`.
  var kind: String
  /// The message on standard error.
  var message: String

  init(_ status: ExitStatus, code: Int32? = nil, message: String) {
    self.code = code ?? status.rawValue
    kind = "\(status)"
    self.message = message
  }

  init(_ error: any Error) {
    self.init(ExitStatus.of(error), message: ErrorText.of(error))
  }

  /// Prints `{"error":…}` in place of the answer if that was to be JSON.
  func printIfWanted() {
    // Where standard output is gone, the exit code and standard error still say it.
    if Self.isWanted { try? Console.print(json: ["error": self]) }
  }

  /// The words of the command line with those of the settings: at first as they are, since some failures are in them.
  private static let words = Mutex(Array(CommandLine.arguments.dropFirst()))

  /// Tells which words are parsed.
  static func note(words: [String]) { Self.words.withLock { $0 = words } }

  private static var isWanted: Bool { words.withLock { $0.prefix { $0 != "--" }.contains("--json") } }
}

/// The text of an error, safe for a terminal. An error may quote what a peer, a file or the network said.
enum ErrorText {
  /// The maximum length: longer than any sentence of hpeer's own, shorter than a screen.
  private static let limit = 1000

  static func of(_ error: any Error) -> String {
    // This is the only message of several lines. Only the quoted name comes from elsewhere.
    if case PeerError.certificateChanged(let peer, let pinned, let seen) = error {
      return "\(PeerError.certificateChanged(peer: PlainText.escaped(peer), pinned: pinned, seen: seen))"
    }
    return sentence(error)
  }

  /// Returns the name and a sentence, or the sentence alone if it begins with the name.
  static func line(_ sentence: String, named name: String) -> String {
    sentence.hasPrefix("\(name) ") ? sentence : "\(name): \(sentence)"
  }

  /// Returns an error on one line, for a text that quotes it.
  static func sentence(_ error: any Error) -> String {
    if case PeerError.certificateChanged(let peer, _, _) = error {
      return "\(PlainText.escaped(peer)) shows another certificate than the one you paired with, so nothing was sent."
    }
    if error is CancellationError { return "Interrupted." }
    return PlainText.escaped((error as? any WordedError)?.sentence ?? "\(error)", limit: limit)
  }
}
