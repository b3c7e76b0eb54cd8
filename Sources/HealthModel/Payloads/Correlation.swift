/// A group of samples that belong together (`HKCorrelation`): a blood pressure, a meal. The members are also samples
/// of their own.
public struct Correlation: Hashable, Sendable {
  /// The references to the members, in the order of the source. The members need not be in the store (yet).
  public var members: [SampleReference]
  /// Whether members were removed for a reader who may not see them; see ``SampleRedaction``.
  public var isPartial: Bool

  /// Creates a correlation.
  ///
  /// - Parameter isPartial: whether members were removed from the list on purpose.
  public init(members: [SampleReference], isPartial: Bool = false) {
    self.members = members
    self.isPartial = isPartial
  }
}

extension Correlation: Codable {
  private enum Key: String, CodingKey { case members, partial }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    members = try object.decode([SampleReference].self, forKey: .members)
    isPartial = try object.decodeIfPresent(Bool.self, forKey: .partial) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(members, forKey: .members)
    if isPartial { try object.encode(true, forKey: .partial) }
  }
}

extension Correlation: SamplePayload {
  package static let kind = "correlation"
  package static let isUniqueAtItsTime = true
  package static let isOpen = false
  package var payload: Payload { .correlation(self) }

  package func coded() -> CodedPayload {
    CodedPayload(
      json: CanonicalJSONWriter.text(capacity: 32 + 128 * members.count) { json in
        json.object { json in
          json.name("members")
          json.array(members) { member, json in
            json.object { json in
              json.member("start", member.start)
              json.member("type", member.type.rawValue)
              json.member("uuid", member.uuid.uuidString)
            }
          }
          json.member(partial: isPartial)
        }
      })
  }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.member("members", members) { $0.array($1) { $0.write($1) } }
      form.member(partial: isPartial)
    }
  }

  /// The members are its only content, so there is nothing else to rank by.
  package var rankDetail: RankDetail { .nothing }
}

extension Correlation: ScopedPayload {
  package var statements: Int { members.count }

  package mutating func hide(from cut: SampleRedaction) { members.removeAll { !cut.scope.passes($0) } }
}
