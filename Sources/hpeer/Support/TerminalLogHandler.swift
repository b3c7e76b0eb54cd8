import Foundation
import Logging
import Terminal

/// Writes log messages to standard error, a line each: they may quote requests, and so anything.
struct TerminalLogHandler: LogHandler {
  private static let limit = 1000

  let label: String
  var logLevel = Logger.Level.warning
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    let text = (["\(event.message)"] + fields.map { "\($0.key)=\($0.value)" }).joined(separator: " ")
    Console.say("\(Date().localText) \(event.level) \(label): \(PlainText.escaped(text, limit: Self.limit))")
  }
}
