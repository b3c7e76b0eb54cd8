import Foundation
import HealthModel

@testable import HealthFormats

/// The elements of an export, parsed independently of the product, in a form that is equal for equivalent elements.
struct AppleXML {
  struct Element {
    var name: String
    var attributes: [String: String] = [:]
    var children: [Element] = []
  }

  var root = Element(name: "")

  /// Parses everything from `<HealthData` on, as leniently as real files need.
  init(_ text: String) {
    var stack = [root]
    let start = text.firstRange(of: #/<HealthData[\s>]/#)?.lowerBound ?? text.endIndex
    let body = text[start...].replacing(#/(?s)<!--.*?-->/#, with: "")
    // Made once: to compile it takes longer than to use it.
    let pairs = #/([^\s=][^=]*?)\s*=\s*(?:"([^"]*)"|'([^']*)')/#
    for match in body.matches(of: #/<(\/?)([A-Za-z_][^\s\/>]*)((?:[^"'>]|"[^"]*"|'[^']*')*?)(\/?)>/#) {
      let (_, closing, name, attributes, empty) = match.output
      if closing == "/" {
        guard stack.count > 1 else { continue }
        let element = stack.removeLast()
        stack[stack.count - 1].children.append(element)
        continue
      }
      var element = Element(name: String(name))
      for pair in attributes.matches(of: pairs) {
        let value = String(pair.output.2 ?? pair.output.3 ?? "")
        let key = String(pair.output.1)
        if element.attributes[key] == nil { element.attributes[key] = Self.decoded(value) }
      }
      if empty == "/" { stack[stack.count - 1].children.append(element) } else { stack.append(element) }
    }
    while stack.count > 1 {
      let element = stack.removeLast()
      stack[stack.count - 1].children.append(element)
    }
    root = stack[0].children.first ?? root
  }

  private static func decoded(_ text: String) -> String {
    guard text.contains("&") else { return text }
    var text = text
    if text.contains("&#") {
      text.replace(#/&#(x?)([0-9A-Fa-f]+);/#) { match in
        let scalar = UInt32(match.output.2, radix: match.output.1.isEmpty ? 10 : 16).flatMap(Unicode.Scalar.init)
        return scalar.map { String(Character($0)) } ?? ""
      }
    }
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
      text = text.replacing(entity, with: character)
    }
    return text
  }

  /// Returns each element in the root, except for the export date, as text.
  func elements() -> [String] {
    root.children.filter { $0.name != "ExportDate" }.map { Canonical.text($0) }
  }

  /// All element and attribute names that occur, as `element/@attribute`.
  var attributeNames: Set<String> { Self.attributeNames(of: root) }

  private static func attributeNames(of element: Element) -> Set<String> {
    element.children.reduce(into: Set(element.attributes.keys.map { "\(element.name)/@\($0)" })) {
      $0.formUnion(attributeNames(of: $1))
    }
  }

  /// The paths of all routes.
  var routes: Set<String> {
    Set(
      root.children.flatMap(\.children).filter { $0.name == "WorkoutRoute" }.flatMap(\.children)
        .compactMap { $0.attributes["path"] })
  }
}

/// A canonical text of elements: sorted attributes and children, dates as instants, numbers as values, devices
/// without their address.
enum Canonical {
  static func text(_ element: AppleXML.Element, in parent: AppleXML.Element? = nil) -> String {
    var attributes = element.attributes
    // What a route does not say is as in its workout.
    if element.name == "WorkoutRoute", let parent {
      let given = attributes
      for name in ["startDate", "endDate", "creationDate"] where given["startDate"] == nil && given[name] == nil {
        attributes[name] = parent.attributes[name]
      }
      for name in ["sourceName", "sourceVersion"] where given["sourceName"] == nil && given[name] == nil {
        attributes[name] = parent.attributes[name]
      }
    }
    // iOS 8's name of it.
    if let source = attributes.removeValue(forKey: "source"), attributes["sourceName"] == nil {
      attributes["sourceName"] = source
    }
    // What the person has not told is printed or not.
    if element.name == "Me" { attributes = attributes.filter { !$0.value.isEmpty && !$0.value.hasSuffix("NotSet") } }
    if let start = attributes["startDate"], attributes["endDate"] == nil { attributes["endDate"] = start }
    if attributes["sourceName"]?.isEmpty == true { attributes["sourceName"] = nil }
    if attributes["duration"] != nil {
      attributes["duration"] = seconds(attributes["duration"] ?? "", attributes.removeValue(forKey: "durationUnit"))
    }
    var reader = DateReader()
    let parts = attributes.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(Self.value(value, of: name, in: element.name, &reader))"
    }
    var children = element.children.map { Self.text($0, in: element) }.sorted()
    // The same entry twice is one.
    if element.name != "Correlation" { children = children.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
    return "<\(element.name) \(parts.joined(separator: "|"))>\(children.joined())"
  }

  private static func value(
    _ text: String, of name: String, in element: String, _ reader: inout DateReader
  ) -> String {
    if name.hasSuffix("Masked") { return ["1", "true", "yes"].contains(text.lowercased()) ? "1" : "0" }
    if name == "device" { return withoutAddress(text) }
    // Texts that look like numbers are what they look like.
    if ["key", "sourceName", "sourceVersion", "identifier", "path"].contains(name) { return text }
    if element == "MetadataEntry" || element == "InstantaneousBeatsPerMinute" { return text }
    if name.lowercased().hasSuffix("date") || name == "dateIssued", let date = reader.read(text) {
      return String(date.date.seconds)
    }
    if let number = DecimalReader.read(text) { return String(format: "%.9g", number.value) }
    return text
  }

  /// Returns a device's text without its first word, `<<HKDevice: 0x281a3c0f0>`, and its last bracket.
  private static func withoutAddress(_ text: String) -> String {
    var rest = text[...]
    if text.hasPrefix("<<HKDevice: ") { rest = text.drop { $0 != "," && $0 != ">" } }
    return String(rest.last == ">" ? rest.dropLast() : rest)
  }

  private static func seconds(_ text: String, _ unit: String?) -> String {
    guard let number = DecimalReader.read(text)?.value,
      let seconds = UnitConversion.convert(number, from: unit ?? "min", to: "s")
    else { return text }
    return "\(seconds)"
  }
}

/// Returns the elements of `expected` that are missing in `actual`, each as often as it is missing.
func missing(_ expected: [String], from actual: [String]) -> [String] {
  var rest = Dictionary(actual.map { ($0, 1) }, uniquingKeysWith: +)
  return expected.filter {
    guard let count = rest[$0], count > 0 else { return true }
    rest[$0] = count - 1
    return false
  }
}

/// An export that was read and then written by ``AppleExportWriter``.
struct RewrittenExport {
  let text: String
  let omitted: Int

  init(_ reading: Reading, offset: Int = 0) {
    var writer = AppleExportWriter(exportDate: Timestamp(seconds: 1_720_000_000), offset: offset)
    var omitted = 0
    let all = reading.samples + reading.readings
    // A member of a correlation is there twice: once by itself.
    let samples = Dictionary(all.map { ($0.reference, $0) }, uniquingKeysWith: { first, _ in first })
    writer.begin(characteristics: reading.readings.filter { AppleExportWriter.section(of: $0) == .characteristics })
    for section in AppleExportWriter.Section.allCases {
      for sample in samples.values where AppleExportWriter.section(of: sample) == section {
        var related: [Sample] = []
        if case .correlation(let correlation) = sample.payload {
          related = correlation.members.compactMap { samples[$0] }
        }
        if case .workout = sample.payload {
          related = reading.samples.filter {
            if case .workoutRoute(let route) = $0.payload { route.workout == sample.reference } else { false }
          }
        }
        if case .workoutRoute(let route) = sample.payload, route.workout.flatMap({ samples[$0] }) != nil { continue }
        if !writer.append(sample, related: related) { omitted += 1 }
      }
    }
    writer.end()
    text = String(decoding: writer.take(), as: UTF8.self)
    self.omitted = omitted
  }
}
