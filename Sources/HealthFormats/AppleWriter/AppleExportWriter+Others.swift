import HealthModel

/// `ActivitySummary`, and elements that are kept as they are.
extension AppleExportWriter {
  mutating func activitySummary(_ sample: Sample) {
    guard case .activitySummary(let summary) = sample.payload else { return }
    output.start("ActivitySummary")
    output.attribute("dateComponents", summary.date)
    var rest = summary.attributes
    for name in Self.summaryAttributes { output.attribute(name, rest.removeValue(forKey: name)) }
    for (name, value) in rest.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    output.end()
  }

  private static let summaryAttributes = [
    "activeEnergyBurned", "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", "appleMoveTime", "appleMoveTimeGoal",
    "appleExerciseTime", "appleExerciseTimeGoal", "appleStandHours", "appleStandHoursGoal",
  ]

  mutating func other(_ sample: Sample) {
    switch sample.payload {
    case .audiogram(let audiogram): self.audiogram(audiogram, of: sample)
    case .visionPrescription(let prescription): self.prescription(prescription, of: sample)
    case .clinicalRecord(let record): clinicalRecord(record, of: sample)
    default: foreign(sample)
    }
  }

  /// An element that the model has no payload for, from its attributes and children.
  private mutating func foreign(_ sample: Sample) {
    guard case .unknown(let kind, let content) = sample.payload, let element = ForeignElement(kind, content)
    else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start(element.name)
    // One without a date says in its attributes all that it has.
    let isUndated = sample.start.microseconds == 0 && sample.end == sample.start && sample.source.name.isEmpty
    if !isUndated {
      // One without a type has the element's name for it.
      if element.attributes["type"] == nil, sample.type.rawValue != element.name {
        output.attribute("type", sample.type.rawValue)
      }
      source(of: sample)
      dates(of: sample, &kept)
    }
    for (name, value) in element.attributes.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    attributes(kept)
    entries(kept)
    for child in element.children { write(child) }
    output.end()
  }

  mutating func write(_ element: ForeignElement) {
    output.start(element.name)
    for (name, value) in element.attributes.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    for child in element.children { write(child) }
    output.end()
  }
}

/// An element as an import keeps it: `{"attributes":{…},"children":[{"element":…,"attributes":{…}}]}`.
struct ForeignElement {
  var name: String
  var attributes: [String: String] = [:]
  var children: [ForeignElement] = []

  /// `nil` for what is no element.
  init?(_ kind: String, _ content: JSONValue) {
    let bare = kind.hasPrefix("foreign.") ? kind.dropFirst("foreign.".count) : kind[...]
    self.init(name: bare.prefix(1).uppercased() + bare.dropFirst(), content)
  }

  /// Of `{"element":…,"attributes":{…},"children":[…]}`.
  init?(_ content: JSONValue) {
    guard case .object(let members) = content, case .string(let name)? = members["element"] else { return nil }
    self.init(name: name, content)
  }

  private init?(name: String, _ content: JSONValue) {
    guard XMLOutput.isName(name), case .object(let members) = content,
      case .object(let attributes)? = members["attributes"]
    else { return nil }
    self.name = name
    for (name, value) in attributes {
      guard case .string(let text) = value else { return nil }
      self.attributes[name] = text
    }
    guard case .array(let children)? = members["children"] else { return }
    for child in children {
      guard let element = ForeignElement(child) else { return nil }
      self.children.append(element)
    }
  }
}
