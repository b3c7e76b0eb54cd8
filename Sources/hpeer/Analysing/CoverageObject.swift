import HealthAnalysis
import HealthModel

/// On which days there are samples, as JSON: docs/reference/json.md.
struct CoverageObject: Encodable {
  var zone: String
  var types: [Entry]

  struct Entry: Encodable {
    var type: String
    var first: String?
    var last: String?
    var days: Int
    var of: Int
    var implausibleTime: Int?
    var gaps: [Gap]
    var months: [Month]
  }

  struct Gap: Encodable {
    var from: String
    var to: String
    var days: Int
  }

  struct Month: Encodable {
    var month: String
    var days: Int
    var samples: Int
  }

  init(_ coverages: [Coverage], _ question: Question) {
    zone = question.zone.name
    types = coverages.map { coverage in
      Entry(
        type: coverage.type.shortName, first: coverage.extent.map { CalendarDay($0.lowerBound).text },
        last: coverage.extent.map { CalendarDay($0.upperBound).text }, days: coverage.days.count,
        of: coverage.extent?.count ?? 0,
        implausibleTime: coverage.implausibleTime == 0 ? nil : coverage.implausibleTime,
        gaps: coverage.gaps.map {
          Gap(from: CalendarDay($0.lowerBound).text, to: CalendarDay($0.upperBound - 1).text, days: $0.count)
        },
        months: Dictionary(grouping: coverage.days) { CalendarDay($0.key).month }.sorted { $0.key < $1.key }.map {
          Month(month: $0.key.text, days: $0.value.count, samples: $0.value.reduce(0) { $0 + $1.value })
        })
    }
  }
}
