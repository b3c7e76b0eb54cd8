import HealthAppTransfer

/// The content of `GET /health/types`: the sample types that have samples.
public struct HealthTypes: Encodable, Sendable {
  /// A type with samples that the client may see.
  public struct Entry: Encodable, Sendable {
    /// The short name in the catalogue.
    public var identifier: String
    /// The type's ``SampleTypeCatalogue/Entry/displayName``.
    public var displayName: String
    /// The number of samples that the client may see.
    public var sampleCount: Int

    /// - Parameter sampleCount: a number greater than 0.
    public init(identifier: String, displayName: String, sampleCount: Int) {
      self.identifier = identifier
      self.displayName = displayName
      self.sampleCount = sampleCount
    }
  }

  /// The types, limited to those that HealthAppTransfer knows because its clients refuse an answer with any other.
  public var types: [Entry]

  /// - Parameter types: in the order in which clients show them.
  public init(types: [Entry]) {
    self.types = types
  }
}

/// The content of `GET /health/data`: one page of samples of one type, newest first.
public struct HealthDataPage: Encodable, Sendable {
  /// The short name of the requested type.
  public var type: String
  /// The samples of the page: at most ``limit``, fewer if the app's format cannot express some.
  public var samples: [HealthSampleDTO]
  /// The number of samples of the type that the client may see, across all pages.
  public var totalCount: Int
  /// The number of newer samples skipped.
  public var offset: Int
  /// The requested page size.
  public var limit: Int
  /// Whether there are samples after this page.
  public var hasMore: Bool

  /// Creates a page and computes ``hasMore`` from `totalCount`, `offset` and `limit`.
  public init(type: String, samples: [HealthSampleDTO], totalCount: Int, offset: Int, limit: Int) {
    self.type = type
    self.samples = samples
    self.totalCount = totalCount
    self.offset = offset
    self.limit = limit
    hasMore = offset + limit < totalCount
  }
}
