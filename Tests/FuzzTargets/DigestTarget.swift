import Foundation
import HealthModel
import PeerProtocol

extension FuzzTarget {
  /// Fuzzes a peer's digest as received in an answer. The same bytes are also read as a month, a sum and a request's
  /// query.
  @Sendable static func digest(_ input: [UInt8]) {
    let string = text(input)
    if let month = CalendarMonth(string) {
      require(month.description.utf8.elementsEqual(string.utf8), "a month has one spelling: \(string)")
      require(CalendarMonth(containing: month.instants.upperBound) == month, "a month ends within itself: \(string)")
    }
    if let sum = SetDigest(count: 1, hex: string) { require(sum.hex == string, "a sum has one spelling: \(string)") }
    let fields = string.split(separator: "&", omittingEmptySubsequences: false)
    if fields.count == 3 {
      do throws(QueryFieldError) {
        let months = try DigestSelection(types: nil, from: fields[0], to: fields[1], deep: fields[2]).months
        require(months?.lowerBound.description == String(fields[0]), "the first month is what was asked: \(string)")
      } catch {
        require(!error.description.isEmpty, "a sentence for every error")
      }
    }
    guard let data = try? JSONDecoder().decode(DigestData.self, from: Data(input)) else { return }
    requireRoundTrip(data)
    guard let digest = try? data.digest() else { return }
    // Whoever compares adds the counts of two.
    _ = RecordDigest(types: digest.types + digest.types).parts(ofAtMost: 100)
    _ = (digest.samples, digest.tombstones, digest.months)
    let again = DigestData(digest, token: data.token, filter: data.filter)
    require((try? again.digest()) == digest, "a digest can be told again: \(string)")
    require(again.types == data.types, "and has one spelling: \(string)")
  }
}
