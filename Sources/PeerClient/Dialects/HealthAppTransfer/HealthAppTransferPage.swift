import Foundation
import HealthAppTransfer
import HealthModel
import PeerProtocol

/// The success of any of the app's answers: its errors have no `success`.
struct HealthAppTransferEnvelope<Content: Decodable>: Decodable {
  var success: Bool
  var data: Content
}

struct HealthAppTransferStatus: Decodable {
  var status: String
  var deviceName: String
  /// Only an hpeer says it.
  var `protocol`: String?
}

struct HealthAppTransferToken: Decodable {
  var token: String
}

struct HealthAppTransferTypes: Decodable {
  struct Entry: Decodable {
    var identifier: String
    /// 1 where there is any: no count.
    var sampleCount: Double?
  }
  var types: [Entry]
}

/// Rows of one type, newest start first; rows of one second in any order.
struct HealthAppTransferPage {
  /// A row that could be understood.
  struct Row {
    var sample: Sample
    /// The second in which it starts: what the order can be told by.
    var second: Int64 { sample.start.seconds }
  }

  var rows: [Row]
  /// Rows that came and could not be understood.
  var unreadable: Int
  /// Where in the list there are rows that the app has and cannot send; counted in ``unreadable``.
  var unsendable: [Int] = []
  /// Whether older rows follow.
  var hasMore: Bool
  /// The most rows that it could have: as the app says, which may give fewer than it was asked for.
  var limit = HealthAppTransferRequest.mostRows
  /// How many rows there are in all: said only by the last page, and beyond.
  var total: Int?

  /// Throws `DecodingError` for what is no page, and ``PhoneBody/Excess``.
  init(_ body: [UInt8], type: HealthAppTransferRequest.AppType) throws {
    let data = try PhoneBody.decode(HealthAppTransferEnvelope<Wire>.self, body).data
    guard PhoneBody.fits(nested: data.samples.lazy.compactMap(\.value?.metadataJSON)) else { throw PhoneBody.Excess() }
    rows = data.samples.compactMap { element in
      // What it says it is, is not always what was asked for.
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

  /// Pages that follow each other, as one; the newest first.
  init(_ parts: [HealthAppTransferPage]) {
    rows = parts.flatMap(\.rows)
    unreadable = parts.reduce(0) { $0 + $1.unreadable }
    unsendable = parts.flatMap(\.unsendable)
    (hasMore, total) = (parts.last?.hasMore ?? false, parts.last?.total)
  }

  /// A row that the app has and cannot send; whether others follow is not known.
  init(unsendableAt offset: Int) { (rows, unreadable, unsendable, hasMore, total) = ([], 1, [offset], true, nil) }

  private struct Wire: Decodable {
    var samples: [Lenient]
    var totalCount: WireCount?
    var limit: LenientCount?
    var hasMore: Bool
  }

  /// A number that is of use, and that a page can do without.
  private struct LenientCount: Decodable {
    var count: Int?

    init(from decoder: any Decoder) throws { count = (try? WireCount(from: decoder))?.rawValue }
  }

  /// One row that cannot be read must not cost the others.
  private struct Lenient: Decodable {
    var value: HealthSampleDTO?

    init(from decoder: any Decoder) throws { value = try? HealthSampleDTO(from: decoder) }
  }
}
