import HealthAppTransfer

/// `GET /health/types`: what there is.
public struct HealthTypes: Encodable, Sendable {
  /// One type that has samples which the client may see.
  public struct Entry: Encodable, Sendable {
    /// The catalogue's short name.
    public var identifier: String
    /// As ``SampleTypeCatalogue/Entry/displayName``.
    public var displayName: String
    /// The number of samples that the client may see.
    public var sampleCount: Int

    /// - Parameter sampleCount: more than 0.
    public init(identifier: String, displayName: String, sampleCount: Int) {
      self.identifier = identifier
      self.displayName = displayName
      self.sampleCount = sampleCount
    }
  }

  /// Only types that the app knows: its clients refuse an answer with others.
  public var types: [Entry]

  /// - Parameter types: in the order in which clients show them.
  public init(types: [Entry]) {
    self.types = types
  }
}

/// `GET /health/data`: one page of one type, newest first.
public struct HealthDataPage: Encodable, Sendable {
  /// The short name that was asked for.
  public var type: String
  /// At most ``limit``; fewer where the app has no words for some.
  public var samples: [HealthSampleDTO]
  /// The number of samples of the type that the client may see, on all pages.
  public var totalCount: Int
  /// How many newer samples were skipped.
  public var offset: Int
  /// The size of a page, as it was asked for.
  public var limit: Int
  /// Whether there are samples after this page.
  public var hasMore: Bool

  /// ``hasMore`` follows from the three numbers.
  public init(type: String, samples: [HealthSampleDTO], totalCount: Int, offset: Int, limit: Int) {
    self.type = type
    self.samples = samples
    self.totalCount = totalCount
    self.offset = offset
    self.limit = limit
    hasMore = offset + limit < totalCount
  }
}
