import HealthModel

/// The FHIR codes, unit and category of each sample type, read from `Resources/fhir_map.tsv` or a file of that form.
///
/// ```swift
/// let entry = FHIRMap.standard[SampleType("HKQuantityTypeIdentifierHeartRate")]
/// print(entry?.codings.first?.code ?? "", entry?.ucum ?? "")  // 8867-4 /min
/// let own = try FHIRMap.standard.overridden(byFile: "codes.tsv")
/// ```
///
/// A type that is not in the table is exported under its own name.
public struct FHIRMap: Hashable, Sendable {
  /// A code of LOINC, SNOMED CT or another system, used in addition to the type's own name.
  public struct Coding: Hashable, Sendable {
    /// The code system as an absolute URI, such as `http://loinc.org`.
    public var system: String
    /// The code in the system's spelling, such as `8867-4`.
    public var code: String
    /// The system's name for the code.
    public var display: String
  }

  /// The table's data for one type.
  public struct Entry: Hashable, Sendable {
    /// The code of an observation category, such as `vital-signs`, or `nil` for none.
    public var category: String?
    /// The URL of a profile to which observations with these codes and this unit conform.
    public var profile: String?
    /// HealthKit's name of the unit to which values are converted, or `nil` for a type without quantities.
    public var unit: String?
    /// The UCUM code of ``unit``. Values in `%` are a hundred times HealthKit's.
    public var ucum: String?
    /// The codes in the order of the table; empty for a type that has no code in any system.
    public var codings: [Coding]
  }

  /// The built-in table, read once.
  public static let standard: FHIRMap = {
    do {
      return try FHIRMap(table: Array(PackageResources.fhir_map_tsv), path: "fhir_map.tsv")
    } catch {
      // The table is built in, and a test reads it.
      preconditionFailure("\(error)")
    }
  }()

  private var entries: [String: Entry]

  /// - Throws: ``FHIRMapError`` with the line number.
  init(table: [UInt8], path: String) throws(FHIRMapError) {
    entries = try FHIRMapParser.entries(table, path: path)
  }

  /// The types in the table, sorted.
  public var types: [SampleType] { entries.keys.sorted().map { SampleType($0) } }

  /// Returns the entry of a type, or `nil` if the type is not in the table.
  public subscript(type: SampleType) -> Entry? { entries[type.rawValue] }

  /// Returns this table with the entries of a file, which replace whole entries of the same type.
  ///
  /// - Throws: ``FHIRMapError``
  public func overridden(byFile path: String) throws(FHIRMapError) -> FHIRMap {
    let table: [UInt8]
    do {
      let source = try FileSource(path: path)
      defer { source.close() }
      table = try source.prefix(FHIRMapParser.maximumSize + 1)
    } catch {
      throw .unreadable(path: path)
    }
    var map = self
    map.entries.merge(try FHIRMapParser.entries(table, path: path)) { $1 }
    return map
  }
}

/// An error that makes a table of codes unusable. Each description is one sentence for a person.
public enum FHIRMapError: Error, Hashable, Sendable {
  /// The file does not exist or cannot be opened.
  case unreadable(path: String)
  /// The file is far larger than a table of all types.
  case tooLarge(path: String)
  /// The table is malformed.
  ///
  /// - Parameter detail: the problem, with the name of the column.
  case malformed(path: String, line: Int, detail: String)
}

extension FHIRMapError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable(let path): "\(path) cannot be read; name a table of FHIR codes (docs/reference/formats/fhir.md)."
    case .tooLarge(let path): "\(path) is larger than any table of FHIR codes; name another file."
    case .malformed(let path, let line, let detail):
      "\(path) cannot be used: line \(line): \(detail); docs/reference/formats/fhir.md says how the table looks."
    }
  }
}
