import HealthModel

/// Parses tables of codes strictly. A value that would make a resource invalid is an error with its line number.
enum FHIRMapParser {
  /// The maximum size of a table in bytes; the built-in table has about 16,000.
  static let maximumSize = 1 << 20
  static let columns = ["type", "category", "profile", "unit", "ucum", "system", "code", "display"]

  /// The names of observation categories (https://terminology.hl7.org/CodeSystem-observation-category.html).
  static let categories: [String: String] = [
    "social-history": "Social History", "vital-signs": "Vital Signs", "imaging": "Imaging", "laboratory": "Laboratory",
    "procedure": "Procedure", "survey": "Survey", "exam": "Exam", "therapy": "Therapy", "activity": "Activity",
  ]

  static func entries(_ table: [UInt8], path: String) throws(FHIRMapError) -> [String: FHIRMap.Entry] {
    guard table.count <= maximumSize else { throw .tooLarge(path: path) }
    guard let text = String(validating: table.drop { [0xEF, 0xBB, 0xBF].contains($0) }, as: UTF8.self) else {
      throw .malformed(path: path, line: 1, detail: "the text is not UTF-8")
    }
    var entries: [String: FHIRMap.Entry] = [:]
    var hasHeader = false
    // Only line feeds end rows, not Unicode's other line separators.
    let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let row = line.last == 0x0D ? line.dropLast() : line
      if row.isEmpty || row.first == UInt8(ascii: "#") { continue }
      let fields = row.split(separator: 0x09, omittingEmptySubsequences: false).map { String(Substring($0)) }
      do throws(Problem) {
        if hasHeader {
          try add(fields, to: &entries)
        } else if fields == columns {
          hasHeader = true
        } else {
          throw Problem(detail: "the header is not \(columns.joined(separator: ", ")), divided by tabs")
        }
      } catch {
        throw .malformed(path: path, line: index + 1, detail: error.detail)
      }
    }
    guard hasHeader else { throw .malformed(path: path, line: 1, detail: "there is no header") }
    return entries
  }

  private struct Problem: Error { var detail: String }

  private static func add(
    _ fields: [String], to entries: inout [String: FHIRMap.Entry]
  ) throws(Problem) {
    guard fields.count == columns.count else {
      throw Problem(detail: "\(fields.count) columns instead of \(columns.count)")
    }
    let values = fields.map { $0.isEmpty ? nil : $0 }
    guard let type = values[0], FHIRText.isCode(type) else { throw Problem(detail: "type is no name of a type") }
    var entry = FHIRMap.Entry(
      category: values[1], profile: values[2], unit: values[3], ucum: values[4], codings: [])
    try require(entry, of: SampleType(type))
    if let known = entries[type] {
      guard
        (known.category, known.profile, known.unit, known.ucum)
          == (entry.category, entry.profile, entry.unit, entry.ucum)
      else { throw Problem(detail: "category, profile or unit differ from those of an earlier line with \(type)") }
      entry = known
    }
    switch (values[5], values[6], values[7]) {
    case (nil, nil, nil):
      guard entries[type] == nil else { throw Problem(detail: "\(type) has a line already") }
    case (let system?, let code?, let display?):
      guard FHIRText.isAbsoluteURI(system) else { throw Problem(detail: "system is no absolute URI") }
      guard FHIRText.isCode(code) else { throw Problem(detail: "code is no code") }
      guard FHIRText.plain(display) == display else { throw Problem(detail: "display is no text") }
      guard system != FHIRText.appleSystem, system != FHIRText.ownTypes else {
        throw Problem(detail: "system is the one that the type itself is written in")
      }
      guard !entry.codings.contains(where: { $0.system == system && $0.code == code }) else {
        throw Problem(detail: "\(type) has this code already")
      }
      guard entries[type] == nil || !entry.codings.isEmpty else { throw Problem(detail: "\(type) has a line already") }
      entry.codings.append(FHIRMap.Coding(system: system, code: code, display: display))
    default: throw Problem(detail: "of system, code and display, all or none are needed")
    }
    entries[type] = entry
  }

  private static func require(_ entry: FHIRMap.Entry, of type: SampleType) throws(Problem) {
    if let category = entry.category, categories[category] == nil {
      throw Problem(detail: "category is none of \(categories.keys.sorted().joined(separator: ", "))")
    }
    if let profile = entry.profile, !FHIRText.isAbsoluteURI(profile) {
      throw Problem(detail: "profile is no absolute URI")
    }
    guard (entry.unit == nil) == (entry.ucum == nil) else { throw Problem(detail: "unit and ucum need each other") }
    guard let unit = entry.unit, let ucum = entry.ucum else { return }
    guard FHIRText.plain(unit) == unit else { throw Problem(detail: "unit is no text") }
    guard FHIRUnits.isPlausible(ucum) else { throw Problem(detail: "ucum is no UCUM code") }
    if let usual = SampleTypeCatalogue.healthKit[type]?.canonicalUnit,
      UnitConversion.convert(1, from: usual, to: unit) == nil
    {
      throw Problem(detail: "\(usual), the unit of \(type), cannot be converted into \(unit)")
    }
  }
}
