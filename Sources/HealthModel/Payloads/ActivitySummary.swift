/// A day's activity rings (`HKActivitySummary`), by Apple's attribute names: `activeEnergyBurned`, `appleStandHours`.
public struct ActivitySummary: Hashable, Sendable, Codable {
  /// The local calendar day, `yyyy-MM-dd`.
  public var date: String
  /// All other attributes, unchanged.
  public var attributes: [String: String]

  /// Creates a summary.
  ///
  /// - Parameter attributes: without the date. Numbers stay text because their units are separate attributes.
  public init(date: String, attributes: [String: String]) {
    self.date = date
    self.attributes = attributes
  }
}

extension ActivitySummary: SamplePayload {
  package static let kind = "activitySummary"
  package static let isOpen = false
  package var payload: Payload { .activitySummary(self) }

  package func coded() -> CodedPayload {
    CodedPayload(
      json: CanonicalJSONWriter.text(capacity: 512) { json in
        json.object { json in
          json.name("attributes")
          json.object { json in
            for (name, value) in attributes.inCanonicalOrder { json.member(name, value) }
          }
          json.member("date", date)
        }
      })
  }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.member("attributes", attributes) { $0.object($1) { $0.write($1) } }
      form.member("date", date)
    }
  }

  package var rankDetail: RankDetail { .nothing }
}

extension ActivitySummary: SingleReading {
  /// Whether metadata count as content: other facts about the day are stored there.
  package var includesMetadata: Bool { true }
}
