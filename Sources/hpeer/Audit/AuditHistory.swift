import HealthModel
import HealthStore
import Terminal

/// The events in the audit log about something that hpeer does by itself, oldest first.
struct AuditHistory {
  let zone: ZoneOptions
  let isJSON: Bool
  /// The key of the detail that names what an event is about, printed if the history is that of several.
  var subject: String?

  private struct Entry: Encodable {
    var id: Int64
    var time: Timestamp
    var event: String
    var detail: [String: String]
    var times: Int
  }

  /// Prints the events that match.
  ///
  /// - Parameter isAbout: Returns whether an event with these details matches.
  /// - Returns: Whether there was any.
  func print(_ store: HealthStore, _ isAbout: ([String: String]) -> Bool) async throws -> Bool {
    var last: Int64 = 0
    var hasPrinted = false
    while true {
      let records = try await store.audit.log(after: last, since: nil).records
      guard let end = records.last?.id else { return hasPrinted }
      for record in records where isAbout(record.detail) {
        try print(record)
        hasPrinted = true
      }
      last = end
    }
  }

  private func print(_ record: AuditRecord) throws {
    if isJSON {
      return try Console.print(
        json: Entry(
          id: record.id, time: record.time, event: record.event, detail: record.detail, times: record.times))
    }
    var phrases = ["\(zone.seconds(record.time))  \(PlainText.escaped(record.event, limit: 40))"]
    if let subject, let name = record.detail[subject] { phrases.append(PlainText.escaped(name, limit: 80)) }
    if let change = record.detail["change"] { phrases.append(PlainText.escaped(change, limit: 40)) }
    if let occasion = record.detail["occasion"] { phrases.append(PlainText.escaped(occasion, limit: 40)) }
    if let file = record.detail["file"] { phrases.append(PlainText.escaped(file, limit: 100)) }
    if let files = record.detail["files"].flatMap({ Int($0) }) { phrases.append(HumanFormat.count(files, "file")) }
    if let count = record.detail["count"].flatMap({ Int($0) }) {
      phrases.append("\(HumanFormat.count(count)) delivered")
    }
    if let count = record.detail["refused"].flatMap({ Int($0) }) {
      phrases.append("\(HumanFormat.count(count)) refused")
    }
    if let result = record.detail["result"] { phrases.append(PlainText.escaped(result, limit: 500)) }
    if let reason = record.detail["reason"] { phrases.append(PlainText.escaped(reason, limit: 500)) }
    try Console.print(phrases: phrases)
  }
}
