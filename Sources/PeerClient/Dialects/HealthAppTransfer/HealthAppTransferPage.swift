import Foundation
import HealthAppTransfer
import HealthModel
import PeerProtocol

/// The envelope of the app's successful answers. Its errors have no `success`.
struct HealthAppTransferEnvelope<Content: Decodable>: Decodable {
  var success: Bool
  var data: Content
}

struct HealthAppTransferStatus: Decodable {
  var status: String
  var deviceName: String
  /// The protocol name; only an hpeer sends it.
  var `protocol`: String?
}

struct HealthAppTransferToken: Decodable {
  var token: String
}

struct HealthAppTransferTypes: Decodable {
  struct Entry: Decodable {
    var identifier: String
    /// The app sends 1 for any number of samples, so this is not a count.
    var sampleCount: Double?
  }
  var types: [Entry]
}

/// A page of rows of one type, newest start first. Rows of the same second are in arbitrary order.
struct HealthAppTransferPage {
  /// A row that could be decoded.
  struct Row {
    var sample: Sample
    /// The second in which the sample starts, which determines its order.
    var second: Int64 { sample.start.seconds }
  }

  var rows: [Row]
  /// The number of rows that could not be decoded.
  var unreadable: Int
  /// The offsets of rows that the app has but cannot send; they are also counted in ``unreadable``.
  var unsendable: [Int] = []
  /// Whether older rows follow.
  var hasMore: Bool
  /// The maximum number of rows in the page. The app may use a lower limit than requested.
  var limit = HealthAppTransferRequest.mostRows
  /// The total number of rows; known only from the last page or beyond.
  var total: Int?

  /// Decodes a page. Throws `DecodingError` if the body is not a page, or ``PhoneBody/Excess``.
  init(_ body: [UInt8], type: HealthAppTransferRequest.AppType) throws {
    let data = try PhoneBody.decode(HealthAppTransferEnvelope<Wire>.self, body).data
    guard PhoneBody.fits(nested: data.samples.lazy.compactMap(\.value?.metadataJSON)) else { throw PhoneBody.Excess() }
    rows = data.samples.compactMap { element in
      // The app sometimes returns rows of another type than requested.
      guard let row = element.value, row.type == type.name, let sample = row.sample else { return nil }
      return Row(sample: sample)
    }
    unreadable = data.samples.count - rows.count
    hasMore = data.hasMore
    if let limit = data.limit?.count, limit > 0 {
      self.limit = min(max(limit, data.samples.count), HealthAppTransferRequest.mostRows)
    }
    total = data.hasMore ? nil : data.totalCount?.rawValue
  }

  /// Combines consecutive pages into one; the newest page is first.
  init(_ parts: [HealthAppTransferPage]) {
    rows = parts.flatMap(\.rows)
    unreadable = parts.reduce(0) { $0 + $1.unreadable }
    unsendable = parts.flatMap(\.unsendable)
    (hasMore, total) = (parts.last?.hasMore ?? false, parts.last?.total)
  }

  /// Creates a page for one row that the app has but cannot send. Whether more rows follow is unknown.
  init(unsendableAt offset: Int) { (rows, unreadable, unsendable, hasMore, total) = ([], 1, [offset], true, nil) }

  private struct Wire: Decodable {
    var samples: [Lenient]
    var totalCount: WireCount?
    var limit: LenientCount?
    var hasMore: Bool
  }

  /// An optional number: an invalid one is ignored.
  private struct LenientCount: Decodable {
    var count: Int?

    init(from decoder: any Decoder) throws { count = (try? WireCount(from: decoder))?.rawValue }
  }

  /// A row decoded leniently, so that one unreadable row does not cost the others.
  private struct Lenient: Decodable {
    var value: HealthSampleDTO?

    init(from decoder: any Decoder) throws { value = try? HealthSampleDTO(from: decoder) }
  }
}
