import Foundation
import Terminal

/// What went wrong, for programs: docs/json.md.
struct ErrorObject: Encodable {
  /// The exit code.
  var code: Int32
  /// The name of the exit code, such as `unreachable`.
  var kind: String
  /// What standard error says.
  var message: String

  init(_ status: ExitStatus, code: Int32? = nil, message: String) {
    self.code = code ?? status.rawValue
    kind = "\(status)"
    self.message = message
  }

  init(_ error: any Error) {
    self.init(ExitStatus.of(error), message: ErrorText.of(error))
  }

  /// Prints `{"error":…}` in the place of the answer that was asked for, if that was to be JSON.
  func printIfWanted() {
    // Where standard output is gone, the exit code and standard error still say it.
    if Self.isWanted { try? Console.print(json: ["error": self]) }
  }

  /// Asked of the arguments as they are: some failures are in them.
  private static let isWanted = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
}
