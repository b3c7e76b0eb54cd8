import HealthModel

/// Which codes, unit and category FHIR has for a type of samples, read from `Resources/fhir_map.tsv` or a file of that form.
///
/// ```swift
/// let entry = FHIRMap.standard[SampleType("HKQuantityTypeIdentifierHeartRate")]
/// print(entry?.codings.first?.code ?? "", entry?.ucum ?? "")  // 8867-4 /min
/// let own = try FHIRMap.standard.overridden(byFile: "codes.tsv")
/// ```
///
/// A type that is not in the table is exported all the same, under its own name.
public struct FHIRMap: Hashable, Sendable {
  /// A code of LOINC, SNOMED CT or another system, beside the type's own name.
  public struct Coding: Hashable, Sendable {
    /// An absolute URI: `http://loinc.org`.
    public var system: String
    /// As the system writes it: `8867-4`.
    public var code: String
    /// What the system calls it.
    public var display: String
  }

  /// What the table says of one type.
  public struct Entry: Hashable, Sendable {
    /// A code of FHIR's observation categories: `vital-signs`; `nil` for none.
    public var category: String?
    /// The URL of a profile that observations with these codes and this unit conform to.
    public var profile: String?
    /// HealthKit's name of the unit that values are converted into; `nil` for what is no quantity.
    public var unit: String?
    /// The UCUM code of ``unit``. Of `%`, values are a hundred times HealthKit's.
    public var ucum: String?
    /// In the order of the table; none for a type that no system has a code for.
    public var codings: [Coding]
  }

  /// The table that this build carries, read once.
  public static let standard: FHIRMap = {
    do {
      return try FHIRMap(table: Array(PackageResources.fhir_map_tsv), path: "fhir_map.tsv")
    } catch {
      // Built in, and read by a test.
      preconditionFailure("\(error)")
    }
  }()

  private var entries: [String: Entry]

  /// - Throws: ``FHIRMapError`` with the line.
  init(table: [UInt8], path: String) throws(FHIRMapError) {
    entries = try FHIRMapParser.entries(table, path: path)
  }

  /// The types that the table names.
  public var types: [SampleType] { entries.keys.sorted().map { SampleType($0) } }

  /// `nil` for a type that the table does not name.
  public subscript(type: SampleType) -> Entry? { entries[type.rawValue] }

  /// This table with what a file says instead: of each type that it names, all.
  ///
  /// - Throws: ``FHIRMapError``.
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

/// Why a table of codes cannot be used. Each description is one sentence for a person.
public enum FHIRMapError: Error, Hashable, Sendable {
  /// There is no such file, or it cannot be opened.
  case unreadable(path: String)
  /// It is far larger than a table of all types.
  case tooLarge(path: String)
  /// - Parameter detail: what is wrong, with the name of the column.
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
