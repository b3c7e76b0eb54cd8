import Foundation
import HealthModel

extension HealthSampleDTO {
  /// The members of an object, which are also the columns of the app's table in this order.
  public enum Member: String, CaseIterable, Sendable {
    case id, type, startDate, endDate, sourceName, sourceBundleIdentifier, value, unit, categoryValue
    case workoutActivityType, workoutDuration, workoutTotalEnergyBurned, workoutTotalDistance, correlationValues
    case characteristicValue
    /// The metadata as JSON text. In an object the member is called `metadataJSON`.
    case metadata
  }

  /// The reason why input is not a sample.
  public enum Failure: Error, Hashable, Sendable {
    /// The type is unknown.
    ///
    /// - Parameter name: the name in the input, of any length.
    case unknownType(String)
    /// The member is missing or invalid.
    case malformed(Member)
  }

  /// Reads a sample, strictly validating the members that its type requires.
  ///
  /// - Parameters:
  ///   - text: returns a member as text, with numbers as they were written, or `nil` if it is missing.
  ///   - correlationValues: the member of that name.
  public init(_ text: (Member) -> String?, correlationValues: [String: Double]?) throws(Failure) {
    func required(_ member: Member) throws(Failure) -> String {
      guard let text = text(member) else { throw .malformed(member) }
      return text
    }
    func instant(_ member: Member) throws(Failure) -> Timestamp {
      guard let instant = Timestamp(iso8601: try required(member)) else { throw .malformed(member) }
      return instant
    }
    func number(_ member: Member) throws(Failure) -> Double? {
      guard let text = text(member) else { return nil }
      // `Double` accepts more than decimal numbers.
      guard text.utf8.allSatisfy({ Self.digits.contains($0) }), let number = Double(text), number.isFinite else {
        throw .malformed(member)
      }
      return number
    }
    let type = try required(.type)
    guard let entry = AppTypes.entry(named: type) else { throw .unknownType(type) }
    guard let uuid = UUID(uuidString: try required(.id)) else { throw .malformed(.id) }
    self.init(
      id: uuid.uuidString, type: type, start: try instant(.startDate), end: try instant(.endDate),
      sourceName: try required(.sourceName), dates: .iso8601)
    sourceBundleIdentifier = text(.sourceBundleIdentifier)
    unit = text(.unit)
    metadataJSON = text(.metadata)
    switch entry.kind {
    case .quantity:
      guard let number = try number(.value) else { throw .malformed(.value) }
      value = number
    case .workout:
      guard let activity = UInt(try required(.workoutActivityType)) else {
        throw .malformed(.workoutActivityType)
      }
      workoutActivityType = activity
      workoutDuration = try number(.workoutDuration)
      workoutTotalEnergyBurned = try number(.workoutTotalEnergyBurned)
      workoutTotalDistance = try number(.workoutTotalDistance)
    case .correlation:
      let values = correlationValues?.filter(\.value.isFinite) ?? [:]
      if values.isEmpty { throw .malformed(.correlationValues) }
      self.correlationValues = values
    default:
      guard let text = text(.categoryValue) else { break }
      guard let integer = Int64(text) else { throw .malformed(.categoryValue) }
      categoryValue = integer
    }
  }

  private static let digits = Set("+-.0123456789eE".utf8)
}
