//! Which Rust types dates, times and decimals become.

use bsoap_datatypes::Datatype;

use crate::model::Ty;
use crate::{Dates, Decimals, Options};

/// The Rust type of an atomic datatype that is stored as its lexical form.
pub(crate) fn scalar(datatype: Datatype, options: &Options) -> Ty {
    let foreign = |path, has_default| Ty::Foreign { path, has_default };
    let of_dates = |jiff, chrono, time, own| match options.dates {
        Dates::Bsoap => Ty::Plain(own),
        Dates::Jiff => foreign(jiff, true),
        Dates::Chrono => foreign(chrono, true),
        Dates::Time => foreign(time, false),
        Dates::Strings => Ty::Plain("String"),
    };
    let own_date = |path| match options.dates {
        Dates::Strings => Ty::Plain("String"),
        _ => Ty::Plain(path),
    };
    match datatype.primitive() {
        Datatype::DateTime => of_dates(
            "bsoap::types::jiff::Timestamp",
            "bsoap::types::chrono::DateTime<bsoap::types::chrono::FixedOffset>",
            "bsoap::types::time::OffsetDateTime",
            "bsoap::types::DateTime",
        ),
        Datatype::Date => of_dates(
            "bsoap::types::jiff::civil::Date",
            "bsoap::types::chrono::NaiveDate",
            "bsoap::types::time::Date",
            "bsoap::types::Date",
        ),
        Datatype::Time => of_dates(
            "bsoap::types::jiff::civil::Time",
            "bsoap::types::chrono::NaiveTime",
            "bsoap::types::time::Time",
            "bsoap::types::Time",
        ),
        // No type of those crates has these values.
        Datatype::Duration => own_date("bsoap::types::Duration"),
        Datatype::GYearMonth => own_date("bsoap::types::GYearMonth"),
        Datatype::GYear => own_date("bsoap::types::GYear"),
        Datatype::GMonthDay => own_date("bsoap::types::GMonthDay"),
        Datatype::GDay => own_date("bsoap::types::GDay"),
        Datatype::GMonth => own_date("bsoap::types::GMonth"),
        Datatype::Decimal => decimal(datatype, options.decimals),
        _ => Ty::Plain("String"),
    }
}

fn decimal(datatype: Datatype, decimals: Decimals) -> Ty {
    match decimals {
        Decimals::Strings => Ty::Plain("String"),
        // They may have any number of digits.
        _ if datatype.is_derived_from(Datatype::Integer) => Ty::Plain("bsoap::types::Integer"),
        Decimals::Bsoap => Ty::Plain("bsoap::types::Decimal"),
        Decimals::RustDecimal => Ty::Foreign {
            path: "bsoap::types::rust_decimal::Decimal",
            has_default: true,
        },
    }
}
