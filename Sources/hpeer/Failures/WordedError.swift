/// An error of an operation, which knows neither exit codes nor commands: what it means to whoever has run the command.
protocol WordedError: Error {
  var status: ExitStatus { get }
  /// What happened and what to do next, in one sentence. May quote anything.
  var sentence: String { get }
}
