import Foundation
import HealthModel
import Logging
import Terminal

/// A log handler that writes each message as a line to standard error. Messages are escaped, because they may quote
/// requests and thus anything.
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
    let fields = metadata.merging(event.metadata ?? [:]) { $1 }
    let text = (["\(event.message)"] + fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }).joined(
      separator: " ")
    let line = "\(label): \(PlainText.escaped(text, limit: Self.limit))"
    // The journal says the level by itself.
    Console.log(
      Console.isJournal ? line : "\(event.level) \(line)", Self.priority(event.level),
      JournalFields(values: fields.mapValues { "\($0)".shortened(toBytes: Self.limit) }))
  }

  private static func priority(_ level: Logger.Level) -> LinePriority {
    switch level {
    case .critical, .error: .error
    case .warning: .warning
    case .notice: .notice
    case .info: .information
    case .debug, .trace: .debugging
    }
  }
}
