import HealthModel

/// Which changes a caller asks for: `types` and `limit` in the query of `GET /api/v2/changes`.
public struct ChangeSelection: Hashable, Sendable {
  /// `nil` for all; never empty.
  public var types: Set<SampleType>?
  /// About how many changes end the stream; `Int.max` where nothing is asked.
  public var limit: Int

  /// - Parameters:
  ///   - types: short names in any case or HealthKit identifiers, separated by commas; `nil` when there is no such field.
  ///   - limit: a positive number; `nil` when there is no such field.
  public init(types: Substring?, limit: Substring?) throws(ChangeSelectionError) {
    self.types = nil
    if let types {
      var wanted: Set<SampleType> = []
      for name in types.split(separator: ",") {
        guard let type = SampleTypeCatalogue.healthKit.type(named: String(name)) else { throw .unknownType }
        wanted.insert(type)
      }
      guard !wanted.isEmpty else { throw .noTypes }
      self.types = wanted
    }
    self.limit = .max
    if let limit {
      guard let number = Int(limit), number > 0 else { throw .badLimit }
      self.limit = number
    }
  }
}

/// Why a selection cannot be understood.
public enum ChangeSelectionError: Error, Hashable, Sendable {
  case unknownType
  case noTypes
  case badLimit
}

extension ChangeSelectionError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownType: "'types' names a type that does not exist"
    case .noTypes: "'types' is empty"
    case .badLimit: "'limit' is not a positive number"
    }
  }
}
