//! Code that the macro generates, with options and without.

use bsoap::{Client, Fault, Fetch, Message, Service};

mod shop {
    bsoap::wsdl!("tests/testdata/shop/shop.wsdl");
}

mod texts {
    bsoap::wsdl!(
        "tests/testdata/shop/shop.wsdl",
        derives = [serde::Serialize, serde::Deserialize],
        dates = strings,
        decimals = strings,
        client = false,
        service = false,
        embed = false,
    );
}

struct Prices;

impl shop::Shop for Prices {
    async fn ask(&self, request: shop::Ask, _: Message) -> Result<shop::AskResponse, Fault> {
        let price = shop::Price {
            currency: "EUR".to_owned(),
            amount: request
                .article
                .parse()
                .map_err(|_| Fault::sender("no such article"))?,
            until: None,
        };
        Ok(shop::AskResponse { price })
    }
}

/// The schema is in another folder than the WSDL that imports it.
#[tokio::test]
async fn client_and_service_need_no_files() {
    let definitions = shop::wsdl().load(Fetch::AsAsked).unwrap();
    let locations = definitions.documents().iter();
    let locations: Vec<&str> = locations.map(|document| document.location()).collect();
    assert_eq!(locations, ["shop/shop.wsdl", "types/price.xsd"]);
    assert!(
        locations
            .iter()
            .all(|location| !std::path::Path::new(location).exists())
    );

    let service = shop::serve_shop(Prices, Service::builder(&definitions));
    let service = service.build().unwrap().bind("127.0.0.1:0").await.unwrap();
    let client = Client::builder(shop::wsdl()).endpoint(&service.urls()[0]);
    let client = shop::ShopClient::new(client.build().unwrap()).unwrap();
    tokio::spawn(service.run(std::future::pending()));
    let article = "12.50".to_owned();
    let answer = client.ask(&shop::Ask { article }).await.unwrap();
    assert_eq!(answer.price.amount, "12.5".parse().unwrap());
    assert!(shop::ShopClient::embedded().is_ok());
}

#[test]
fn options_choose_types_and_derives() {
    let json = r#"{"@currency":"EUR","amount":"12.50","until":"2024-02-29"}"#;
    let price: texts::Price = serde_json::from_str(json).unwrap();
    assert_eq!(price.until.as_deref(), Some("2024-02-29"));
    assert_eq!(serde_json::to_string(&price).unwrap(), json);
}
