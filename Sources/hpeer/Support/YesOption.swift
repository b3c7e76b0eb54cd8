import ArgumentParser
import Terminal

/// `--yes`, of a command that asks before it changes what others rely on.
struct YesOption: ParsableArguments {
  @Flag(help: "Do not ask.")
  var yes = false

  /// Whether it shall be done.
  ///
  /// - Throws: a `CommandFailure` that names `--yes` where there is no terminal to ask on.
  func confirm(_ question: String) async throws -> Bool {
    if yes { return true }
    do {
      return try await Prompt.confirm(question)
    } catch PromptError.noTerminal {
      throw CommandFailure(
        .usage, "\(question) There is no terminal to ask on, so nothing was done: --yes does it without asking.")
    }
  }
}
